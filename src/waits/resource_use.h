/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program shares with others, as counters of the kernel say at the end of the trace: memory limits of its cgroups
 * that were met, who read from disks and wrote for them, and which others had CPUs. Of several traces in one, the sums. Owns
 * what it hands out, which stays until resource_use_free() or another event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resource_use;
struct session;

struct memory_limit {
	char cgroup[64]; /* its path, or the end of that */
	uint64_t limit_bytes;
	uint64_t hits;                         /* times that the limit was met */
	uint64_t file_refaults, swap_refaults; /* pages */
};

struct storage_user {
	uint32_t pid; /* 0: all traced processes */
	char name[16];
	uint64_t read_bytes, write_bytes;
};

struct cpu_user {
	uint32_t pid;
	char name[16];
	uint64_t cpu_ns;
};

/* Subscribes to session, which is borrowed. */
struct resource_use *resource_use_new(struct session *session);
void resource_use_free(struct resource_use *use);

/* As many as *count, in the order in which they came. */
const struct memory_limit *resource_use_limits(const struct resource_use *use, size_t *count);
const struct storage_user *resource_use_storage(const struct resource_use *use, size_t *count);
const struct cpu_user *resource_use_cpus(const struct resource_use *use, size_t *count);
