/* SPDX-License-Identifier: GPL-2.0-or-later */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_planted

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "usdt_lttng.h"

#if !defined(USDT_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define USDT_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(lttng_planted, request, LTTNG_UST_TP_ARGS(int, number),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)))

#endif

#include <lttng/tracepoint-event.h>
