/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long input had lain at TCP connections of the traced processes that nobody had read yet, as seen at moments a few times a second:
 * file.UNREAD, added up by process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct session;
struct unread_input;

enum { UNREAD_AGES = 12 };

/* Connections, at all looks together. */
struct unread_process {
	uint64_t looks;                 /* moments at which it had connections */
	uint64_t unread[UNREAD_AGES];   /* by how long the last of their unread input had been there */
	uint64_t looks_of[UNREAD_AGES]; /* at which the oldest one was of this age */
};

/* Subscribes to session. */
struct unread_input *unread_input_new(struct session *session);
void unread_input_free(struct unread_input *input);

/* NULL: it had no connections. */
const struct unread_process *unread_input_of(const struct unread_input *input, uint32_t pid);

/* The least time that input of an age has been there, ns; 0 of the first age. */
uint64_t unread_input_age_ns(unsigned int age);
