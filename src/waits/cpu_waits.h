/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has the CPU while threads that could run wait for one (doc/metrics.md). Each CPU's last owners
 * are kept; when a thread gets a CPU, its wait is split among those who had it meanwhile. Owns all it
 * hands out; pointers stay valid until the next event or cpu_waits_free().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "session/session.h"

struct cpu_waits;
struct others;

struct rival {
	enum rival_kind kind;
	uint32_t pid;     /* of a process */
	char name[16];    /* of a process or a thread of the kernel; may be empty */
	uint64_t wait_ns; /* that threads waited meanwhile */
};

/* Waits in which the CPU limit of a cgroup kept a thread from a CPU: nobody had that one. */
struct cpu_throttling {
	uint64_t throttled_ns, count, max_ns;
};

struct cpu_waits *cpu_waits_new(struct session *session, const struct others *others);
void cpu_waits_free(struct cpu_waits *waits);

/* Walk with *cursor = 0; NULL ends. */
const struct rival *cpu_waits_next(const struct cpu_waits *waits, size_t *cursor);

size_t cpu_waits_rival_count(const struct cpu_waits *waits);

struct cpu_throttling cpu_waits_throttling(const struct cpu_waits *waits);
