/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One client of a scope, from its first byte to its last. It is sent a trace of its own: what a trace says first,
 * made for it; chunks of the log, which all clients share; at the end what is known of addresses, and an index.
 *
 *   greets ──▶ waits ──▶ follows ──▶ leaves ──▶ gone
 *                ▲          │
 *                └──────────┘ what it did not get is not in the log any more
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "trace/trace_format.h"

struct chunk_log;
struct client;
struct connection;
struct trace_packer;

enum client_phase {
	CLIENT_GREETS,  /* it has yet to show a token */
	CLIENT_WAITS,   /* for what a trace has to say first */
	CLIENT_FOLLOWS, /* it gets what happens */
	CLIENT_LEAVES,  /* its trace is at its end, it has yet to take the rest or to close */
	CLIENT_GONE,
};

/* What the clients of a scope have in common; borrowed. */
struct client_setting {
	const struct chunk_log *log;
	struct trace_packer *packer;
	const char *token;                                    /* NULL: none is asked for */
	bool has_ended;                                       /* no more comes into the log */
	void (*put_first)(void *data, struct client *client); /* puts the chunks that do not change */
	void *data;
};

/* Takes the connection. is_known: it need not show a token. */
struct client *client_new(const struct client_setting *setting, struct connection *connection, bool is_known,
			  uint64_t now_ns);
void client_free(struct client *client);

enum client_phase client_phase(const struct client *client);
int client_fd(const struct client *client);

/* For epoll: what it waits for. */
uint32_t client_events(const struct client *client);

/* Whether it asked for the end of its trace and has not got it. */
bool client_wants_end(const struct client *client);

/* Whether client_end() was called. */
bool client_is_ending(const struct client *client);

/* Of its beginning; UINT64_MAX: it lost something since then. */
uint64_t client_begin_ns(const struct client *client);

/* Until when it must have greeted, or taken what it leaves with; 0: there is no limit. */
uint64_t client_deadline_ns(const struct client *client);

/* Bytes that it took, and events that it was too slow for. */
uint64_t client_bytes(const struct client *client);
uint64_t client_lost(const struct client *client);

/* The number of the chunk in the log that it gets next. */
uint64_t client_next(const struct client *client);

/* Reads what it sends, and sends what it can take now. */
void client_step(struct client *client, uint64_t now_ns);

/* For one that waits: a beginning as of this time; each of its chunks; the log goes on behind it. */
void client_begin(struct client *client, uint64_t time_ns);
void client_put_beginning(struct client *client, const struct trace_chunk *chunk, const uint64_t *threads,
			  const void *stored);
void client_follow(struct client *client);

/* Puts a chunk of another kind; before the events, or, after client_end(), behind the last of them. */
void client_put(struct client *client, const struct trace_chunk *chunk, const void *stored);

/*
 * Its trace ends behind what is in the log. It gets an event that the log has not; NULL: there is none. Chunks that
 * come behind it are put until client_close().
 */
void client_end(struct client *client, const struct ev_header *end);
void client_close(struct client *client, uint64_t now_ns);
