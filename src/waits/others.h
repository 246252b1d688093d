/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are not traced but had to do with those that are: they woke one, or had its CPU.
 * Owns what it hands out; pointers stay valid until others_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct others;
struct session;

struct other {
	uint32_t pid;
	bool is_kernel;             /* a thread of the kernel */
	char name[16], process[16]; /* of its process: its first thread's */
};

struct others *others_new(struct session *session);
void others_free(struct others *others);

/* Who has the tid, or had it last; NULL: unknown. */
const struct other *others_find(const struct others *others, uint32_t tid);
