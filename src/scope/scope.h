/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves the trace of a run to whoever connects, while the run goes on. Everything happens in the engine's thread:
 * nothing here waits for a client.
 *
 * Owns: the clients of a scope and what they are sent; a scope's trace as a reader gets it.
 * Used by: live, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/recorder.h"
#include "events.h"

struct scope;

struct scope_options {
	const char *address;           /* as address_parse() reads it; NULL: nobody elsewhere can connect */
	bool is_session;               /* readers of all sessions of the machine can (session_socket.h) */
	const char *certificate, *key; /* files, for TLS; NULL: without */
	const char *token;             /* the file of one; NULL: none is asked for */
};

/* 0, or -EINVAL after having said what is wrong with the options. */
int scope_check(const struct scope_options *options);

/* Listens. 0 or a negative errno, after a message. */
int scope_open(const struct scope_options *options, struct scope **out);
void scope_close(struct scope *scope);

/*
 * For a scope each of whose clients has a process of its own. Who connects next, for scope_take(); -1: nobody for now. Whoever is too much
 * is told so by scope_refuse().
 */
int scope_accept(struct scope *scope);
void scope_refuse(struct scope *scope, int fd);

/* This process is that of a client: it takes the socket, and listens no more. 0 or a negative errno, after a message. */
int scope_take(struct scope *scope, int fd);

/* Where readers find it, as pinch report takes it. */
const char *scope_address(const struct scope *scope);

/* HOST:PORT where it listens; NULL: it is a Unix socket, or nowhere. */
const char *scope_host_port(const struct scope *scope);

/* Where the trace goes that is served. */
const struct recorder_stream *scope_stream(struct scope *scope);

/* Can be read from when there is something to do. */
int scope_poll_fd(const struct scope *scope);

/* How many clients get what happens, or wait for it. */
size_t scope_client_count(const struct scope *scope);

/* Lets clients in, reads what they send, and sends what they can take now. */
void scope_step(struct scope *scope, uint64_t now_ns);

/* Who waits for a beginning wants it now: the end is near. */
void scope_hurry(struct scope *scope);

/* For those who wait, the trace begins with what comes next: it has nothing else to say first. False: nobody does. */
bool scope_begin_traces(struct scope *scope, uint64_t time_ns);

/* Whether its clients are gone; how many chunks the slowest one has yet to take. */
bool scope_is_empty(const struct scope *scope);
uint64_t scope_behind(const struct scope *scope);

/* Gives what is known of addresses to a trace that began at begin_ns, part by part: recorder_names(). */
struct scope_names {
	void (*give)(void *data, uint64_t begin_ns, void (*put)(void *data, const void *names, size_t size_bytes),
		     void *put_data);
	void *data;
};

/* Whether clients want their traces to end, and it is time to look after them again. */
bool scope_wants_end(const struct scope *scope, uint64_t now_ns);

/* Ends their traces behind all that was put, with this event and with names. */
void scope_end_traces(struct scope *scope, const struct ev_header *end, const struct scope_names *names,
		      uint64_t now_ns);

/* No more events come: ends all traces, and waits until clients have them, or take nothing for too long. */
void scope_finish(struct scope *scope, const struct scope_names *names);

struct scope_counts {
	uint64_t clients;     /* that had a trace */
	uint64_t refused;     /* because there were too many */
	uint64_t bytes;       /* that were sent */
	uint64_t events_lost; /* clients were too slow for; of each client */
};

struct scope_counts scope_counts(const struct scope *scope);
