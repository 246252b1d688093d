/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks of language runtimes, known by the variable that holds them. */
#pragma once

#include <stdint.h>

struct symbols;
struct wait_facts;

/* One that users know by a name. */
struct runtime_lock {
	const char *name; /* "the GIL" */
	const char *kind; /* "gil" */
};

/* The one at an address of process pid, as its address space was at time_ns; NULL: there is none. */
const struct runtime_lock *runtime_lock_at(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address);

/* The one that is waited for; NULL: none is. */
const struct runtime_lock *runtime_lock_of(struct symbols *symbols, uint32_t pid, uint64_t time_ns,
					   const struct wait_facts *facts);

/* What users call the lock of a kind of share/wait.rules, of which each process has one; NULL: it is no such kind. */
const char *runtime_lock_name(const char *kind);
