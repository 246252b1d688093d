/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace in CTF 1.8, written by Babeltrace's library, which is loaded when it is wanted. Rows become events of one stream, with the fields
 * that their kinds have.
 */
#pragma once

#include <stdint.h>

struct ctf_kind;
struct ctf_rows;

struct babeltrace_trace {
	const char *directory; /* is not there, in a directory that is the user's */
	const struct ctf_kind *kinds;
	unsigned int kind_count;
	struct ctf_rows *rows;
	int64_t offset_s; /* of CLOCK_REALTIME over CLOCK_MONOTONIC */
	uint32_t offset_ns;
};

/* Loads the library. 0; -ENOENT after a message: it is not there. */
int babeltrace_load(void);

/* Once the library is loaded; reads all rows. 0 or a negative errno, after a message. */
int babeltrace_write(const struct babeltrace_trace *trace);
