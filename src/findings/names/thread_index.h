/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of an account by what others know them by. The threads are the registry's. */
#pragma once

#include <stdint.h>

struct criticality;
struct table;
struct thread;

struct thread_index {
	struct table *by_number;
	struct table *by_tid;      /* use thread_index_find() */
	struct table *by_pid;      /* first threads of processes */
	struct table *by_host_tid; /* the last one of each id */
};

struct thread_index thread_index_new(const struct criticality *criticality);
void thread_index_free(struct thread_index *index);

/* The last thread of a process that its own namespace knows as ns_tid; NULL: none. */
const struct thread *thread_index_find(const struct thread_index *index, uint32_t pid, uint32_t ns_tid);
