/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What events have defined that others refer to: stacks, files, threads and the like. */
#pragma once

#include <stdbool.h>

#include "events.h"

struct seen_definitions;

struct seen_definitions *seen_definitions_new(void);
void seen_definitions_free(struct seen_definitions *recorded);

/* Notes what the event says; false: that was recorded already. */
bool seen_definitions_note(struct seen_definitions *recorded, const struct ev_header *header);
