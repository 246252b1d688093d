/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tracepoint of LTTng-UST with the fields that trace_event() has. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pinch_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_tp.h"

#if !defined(LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(pinch_bench, event, LTTNG_UST_TP_ARGS(uint32_t, argument),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, argument, argument)))

#endif

#include <lttng/tracepoint-event.h>
