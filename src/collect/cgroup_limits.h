/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the memory limits of the traced processes' cgroups, or of those above them, are met while it is traced: their
 * counters are read when a process is first seen, and at the end; resource.MEMORY_LIMIT has the difference. Version 1 and 2
 * of cgroups. Processes beyond a bound are taken to be in the cgroups of those before them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cgroup_limits;
struct session;

/* Subscribes to session, which is borrowed. */
struct cgroup_limits *cgroup_limits_new(struct session *session);
void cgroup_limits_free(struct cgroup_limits *limits);

/* Looks where the processes are that have come. To be called often. */
void cgroup_limits_step(struct cgroup_limits *limits);

/* Hands out an event for each limit that was met. */
void cgroup_limits_finish(struct cgroup_limits *limits);

/* What a cgroup's files say. */
struct cgroup_memory {
	uint64_t limit_bytes; /* UINT64_MAX: none */
	uint64_t hits, file_refaults, swap_refaults;
};

/* The number after a key that begins a line, as in memory.stat; 0: the key is missing. */
uint64_t cgroup_counter(const char *text, const char *key);

/* A limit in bytes: "max", and numbers that stand for none in version 1, are UINT64_MAX. */
uint64_t cgroup_limit(const char *text);

/*
 * The path of a process's cgroup, of /proc/PID/cgroup: that of the memory controller, if is_v1, or else the unified one.
 * It is cut off in text and lies there. NULL: there is none, or it is outside of what can be seen.
 */
const char *cgroup_path(char *text, bool is_v1);
