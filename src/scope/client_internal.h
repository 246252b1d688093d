/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a client share: client.c has its connection, client_stream.c makes what it is sent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scope/client.h"
#include "scope/client_trace.h"

enum { LINE_BYTES = 512 }; /* of what it sends; longer lines are not ours */

/* What comes behind the last event. */
struct last_chunk {
	struct trace_chunk head;
	void *stored;
};

struct client {
	const struct client_setting *setting;
	struct connection *connection;
	enum client_phase phase;
	bool is_known;   /* it need not show a token */
	bool is_greeted; /* keys are agreed on */
	bool has_begun;  /* it had a beginning */
	bool wants_end;  /* it asked for it */
	bool is_ending;  /* client_end() */
	bool is_deaf;    /* it sends nothing any more */
	struct client_trace trace;
	uint64_t next, stop; /* in the log; stop: where its trace ends; UINT64_MAX: nobody knows yet */
	uint64_t stop_event_count, stop_ns;
	uint64_t event_count; /* of the log: those it got, and those it knows that it lost */
	uint64_t lost_count;
	uint64_t begin_ns, deadline_ns;
	uint64_t sent_bytes;
	struct last_chunk *last;
	size_t last_count, last_capacity;
	char line[LINE_BYTES];
	size_t line_length;
};

/* What it leaves with must go on being taken. */
static const uint64_t leave_ns_max = 10000000000;

/* client_stream.c: makes more to be sent. False: there is nothing for now. */
bool client_make_more(struct client *client, uint64_t now_ns);
