/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long input had lain at TCP connections, in other sockets and in pipes of the traced processes that nobody had read yet, as
 * seen at moments a few times a second: file.UNREAD, added up by process. When input came is known of TCP; else it is as old as
 * it was seen there, provided that no event loop has polled since: what it left there then is no work for it, or
 * is not what was seen before.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct session;
struct unread_input;

enum { UNREAD_AGES = 12 };

/* Connections, sockets and pipes, at all looks together; a look and the second one that follows it count as one. */
struct unread_process {
	uint64_t looks;                 /* moments at which it had some */
	uint64_t unread[UNREAD_AGES];   /* by how long their unread input had been there */
	uint64_t looks_of[UNREAD_AGES]; /* at which the oldest one was of this age */
	int oldest;                     /* at the last look; -1: there was none */
};

/* Subscribes to session. */
struct unread_input *unread_input_new(struct session *session);
void unread_input_free(struct unread_input *input);

/* For how long the event loop of a process that has not polled for the longest time has not, ns; 0: none is in an iteration. */
typedef uint64_t iteration_length(void *data, uint32_t pid, uint64_t now_ns);

/* Where nobody knows, input whose age is only seen is not counted. */
void unread_input_ask(struct unread_input *input, iteration_length *iteration, void *data);

/* NULL: it had none of them. */
const struct unread_process *unread_input_of(const struct unread_input *input, uint32_t pid);

/* The least time that input of an age has been there, ns; 0 of the first age. */
uint64_t unread_input_age_ns(unsigned int age);
