/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace says of itself: the machine, and what its events mean. */
#pragma once

struct text;

/* Puts the JSON object of a chunk TRACE_CHUNK_INFO: doc/pinch-trace.5. */
void trace_info_put(struct text *out);
