/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The opener and the worker as the tool has them. What traced programs do can kill or block either of them,
 * and nothing else: a worker that died is replaced; when one of them is stuck, both are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "helper/spawner.h"

struct helper_pair;
struct pause;
struct users;

/* roles: must outlive the pair. */
struct helper_pair *helper_pair_new(const struct helper_roles *roles);
void helper_pair_free(struct helper_pair *pair); /* may be NULL */

/*
 * Makes sure that both run. The first time, the tool must have the privileges that they need.
 * -ECANCELED: too many have died, or they cannot be started, or not confined.
 */
int helper_pair_begin(struct helper_pair *pair);

/* Who does that to them. */
struct users *helper_pair_users(const struct helper_pair *pair);

/*
 * The worker died of what it was asked last, which was something of this user's; USER_UNKNOWN: of nobody's. -ECHILD; or
 * -ECANCELED: it could not be confined.
 */
int helper_pair_fail_worker(struct helper_pair *pair, uint32_t user);

/* The same: one of them is stuck, or the opener died. */
void helper_pair_fail(struct helper_pair *pair, uint32_t user);

/* A message of one of them, no answer: it may say that it could not be confined. The user sees it. */
void helper_pair_hear(struct helper_pair *pair, const void *message, ssize_t size_bytes);

/* Starts the attacher: spawner_start_attacher(). While the tool has the privileges, and after helper_pair_begin(). */
int helper_pair_start_attacher(struct helper_pair *pair, int *socket);

/* They are not needed any more. */
void helper_pair_end(struct helper_pair *pair);

/* Each changes when that process is replaced; 0: there is none. */
uint32_t helper_pair_opener_number(const struct helper_pair *pair);
uint32_t helper_pair_worker_number(const struct helper_pair *pair);

int helper_pair_opener(const struct helper_pair *pair); /* socket; -1: not running */
int helper_pair_worker(const struct helper_pair *pair);

/*
 * Whether both have done nothing for limit_ns, since_ns (CLOCK_MONOTONIC) at the earliest, while they had
 * something to do: they wait for something that does not come. To be asked again and again meanwhile.
 */
bool helper_pair_is_stuck(struct helper_pair *pair, uint64_t since_ns, uint64_t limit_ns);

/* What the opener does now, or is stuck at, the worker wants and not the tool. */
bool helper_pair_opener_serves_worker(const struct helper_pair *pair);

/* The peak of the worker's resident memory in bytes; of several, of the one that took most. */
uint64_t helper_pair_memory_bytes(struct helper_pair *pair);

/* Taken while answers are waited for; borrowed. NULL: none. */
void helper_pair_set_pause(struct helper_pair *pair, struct pause *pause);
struct pause *helper_pair_pause(const struct helper_pair *pair);
