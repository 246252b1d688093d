/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: what every traced process had mapped to execute, and since when. A lookup
 * names a process and a time, so that reused process ids, execs and replaced libraries keep
 * their meaning. Unmapping is not recorded: a range counts until another one replaces it.
 *
 * Owns: address spaces, and the distinct files in them.
 * Used by: symbol/worker, symbol/names, symbol, collect/probe, collect, engine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spaces;

struct mapping {
	uint64_t start, end;
	uint64_t file_offset;
	uint32_t module; /* the caller's number */
};

struct space_hit {
	struct mapping mapping;
	bool is_mapped; /* false: the space is known, the address is not in it */
	uint32_t space; /* unique number of the address space, never 0 */
	uint32_t base;  /* of the space that it was forked from, 0: of none */
};

/* Mappings and spaces together stay within count_max; what does not fit is counted. */
struct spaces *spaces_new(size_t count_max);
void spaces_free(struct spaces *spaces);

/* The process's space is empty from time_ns on. */
void spaces_exec(struct spaces *spaces, uint32_t pid, uint64_t time_ns);

/* A new process sees what its parent has mapped at time_ns; costs the same for any size. */
void spaces_fork(struct spaces *spaces, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* Replaces what was mapped in that range. */
void spaces_map(struct spaces *spaces, uint32_t pid, uint64_t time_ns, const struct mapping *mapping);

/*
 * A mapping found in a living process: nobody knows since when. It counts from the beginning
 * of the space, or from now_ns when the events have something else there.
 */
void spaces_found(struct spaces *spaces, uint32_t pid, uint64_t now_ns, const struct mapping *mapping);

/* False when nothing at all is known about the process. */
bool spaces_find(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address, struct space_hit *hit);

enum { SPACES_NEAR_MAX = 8 };

/*
 * The mappings of wanted modules that lie nearest to an address, up to half of SPACES_NEAR_MAX on
 * either side of it, those mapped last first. Their number.
 */
size_t spaces_near(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address,
		   bool (*is_wanted)(void *data, uint32_t module), void *data,
		   struct mapping mappings[SPACES_NEAR_MAX]);

/* What a process has mapped now, in the order of the addresses, each byte once. */
void spaces_each(const struct spaces *spaces, uint32_t pid,
		 void (*on_mapping)(void *data, const struct mapping *mapping), void *data);

/*
 * The process has ended. It may be looked up, as long as not too many others have ended since and
 * there is space.
 */
void spaces_exit(struct spaces *spaces, uint32_t pid);

/* Called for each space that is forgotten, with its number, but not for all at the end. */
void spaces_on_forget(struct spaces *spaces, void (*on_forget)(void *data, uint32_t space), void *data);

/* No address of this process will be looked up any more. */
void spaces_forget(struct spaces *spaces, uint32_t pid);

struct space_counts {
	size_t spaces, mappings;
	uint64_t dropped; /* mappings and spaces beyond the bound */
};

struct space_counts spaces_counts(const struct spaces *spaces);
