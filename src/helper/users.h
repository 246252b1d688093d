/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose processes and files the helpers die of, or are stuck at. A user of whom that is so again and again is not
 * examined any more, so that nobody else has to do without names for it. Root and who runs the tool always are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct users;

enum { USERS_FAILURES_MAX = 3 };

#define USER_UNKNOWN (~(uint32_t)0)

struct users *users_new(void);
void users_free(struct users *users); /* may be NULL */

/* Called once for each user who is not examined any more. */
void users_on_barred(struct users *users, void (*on_barred)(void *data, uint32_t user), void *data);

/*
 * Who has started a process, even if it has taken another user on; who it was of lately if it has ended.
 * USER_UNKNOWN.
 */
uint32_t users_of(struct users *users, uint32_t pid);

/* A helper was lost at something of theirs. False: theirs alone it is not to bear. */
bool users_charge(struct users *users, uint32_t user);

/* Nothing of theirs is examined from now on, unless it always is. */
void users_bar(struct users *users, uint32_t user);
bool users_are_barred(const struct users *users, uint32_t user);
