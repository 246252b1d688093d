/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "events.h"

/* Where what is repeated goes: well-formed events, borrowed until tell() returns. */
struct prologue_out {
	void (*emit)(void *data, const struct ev_header *header);
	void *data;
	/* Which of the threads and mappings a beginning records; NULL: all. */
	bool (*is_chosen)(void *data, const struct ev_header *header);
};
