/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What events have told that others refer to: stacks, files, threads and the like. */
#pragma once

#include <stdbool.h>

#include "events.h"

struct trace_told;

struct trace_told *trace_told_new(void);
void trace_told_free(struct trace_told *told);

/* Notes what the event tells; false: that was told already. */
bool trace_told_note(struct trace_told *told, const struct ev_header *header);
