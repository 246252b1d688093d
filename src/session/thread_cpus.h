/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which CPU a thread runs, or ran last: by the events of a stream, in its order. */
#pragma once

#include <stdint.h>

#include "events.h"

struct thread_cpus;

struct thread_cpus *thread_cpus_new(void);
void thread_cpus_free(struct thread_cpus *cpus);

/* Takes any event in. */
void thread_cpus_follow(struct thread_cpus *cpus, const struct ev_header *header);

/* -1: unknown. */
int32_t thread_cpus_find(const struct thread_cpus *cpus, uint32_t thread);
