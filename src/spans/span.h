/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A span of a trace. */
#pragma once

#include <stdint.h>

#include "values.h"

/* What was recorded of one span, and what of that is no execution. */
struct span {
	const char *name, *spec; /* NULL: there is no such span in the trace */
	enum span_kind kind;
	uint64_t count;      /* executions */
	uint64_t ends_alone; /* ends without a beginning: that was before the trace, or is lost */
	uint64_t begun_anew; /* without having been ended */
	uint64_t left;       /* functions that did not return: an exception, a jump, an exec */
	uint64_t died;       /* their thread ended in them */
	uint64_t unfinished; /* at the end of the trace */
	uint64_t dropped;    /* beyond the bounds */
	uint64_t in_gaps;    /* executions within which records were lost: they may be several */
};
