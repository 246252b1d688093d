/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had requests at disks (--system), device by device: each moment is split evenly among all that were under way there.
 * Algorithm 1 of wPerf (Zhou et al., OSDI 2018), lines 39 and 40. Owns what it hands out, which stays until
 * block_users_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

struct block_users;
struct others;
struct session;
struct threads;

struct block_user {
	uint32_t device; /* major * 2^20 + minor; 0: unknown */
	enum rival_kind
		kind;  /* of who asked, as far as the kernel side knows: write-back is a thread of the kernel's */
	uint32_t pid;  /* of who is not traced; else 0 */
	char name[16]; /* of the thread; empty: not known */
	double ns;
	uint64_t count; /* of requests */
};

struct block_users *block_users_new(struct session *session, struct threads *threads, const struct others *others);
void block_users_free(struct block_users *users);

/* Walk with *cursor = 0; NULL ends. Requests that have not come to their end are not in it. */
const struct block_user *block_users_next(const struct block_users *users, size_t *cursor);
