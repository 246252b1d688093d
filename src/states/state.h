/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread does over a stretch of time: the state values of DepGraph (Ezzati-Jivan and others, 2021,
 * section III-B, equations 1 to 3).
 */
#pragma once

#include <stdint.h>

#include "waits/sums/waits.h"
#include "waits/wait_cause.h"

enum state_kind {
	STATE_UNKNOWN, /* not born, dead, or records were lost */
	STATE_RUNNING,
	STATE_SPINNING, /* running, and waiting in a loop */
	STATE_RUNNABLE,
	STATE_BLOCKED,
};

/* Why a thread is runnable. */
enum ready_why {
	READY_UNKNOWN, /* the record was lost, or it was found so */
	READY_BORN,
	READY_WOKEN,
	READY_PREEMPTED,
	READY_THROTTLED, /* the CPU limit of its cgroup keeps it from a CPU */
};

/* What there is to say of a state. Fields that mean nothing are 0. */
struct state_value {
	uint64_t object;             /* BLOCKED: what it waits for; woken: of the waker's system call */
	uint64_t stack;              /* where it blocked, or where the waker was; 0: unknown */
	uint32_t thread, tid;        /* woken: by whom; thread: its number, 0: not traced */
	uint16_t syscall, operation; /* BLOCKED: its own; woken: the waker's */
	uint8_t why;                 /* BLOCKED: enum wait_cause; RUNNABLE: enum ready_why */
	uint8_t how;                 /* BLOCKED: enum switch_state; woken: enum waker_kind */
	uint16_t reserved;           /* 0, so that equal values are equal bytes */
};

struct state {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; end_ns is not in it */
	enum state_kind kind;
	uint32_t cpu;             /* RUNNING, SPINNING */
	struct state_value value; /* BLOCKED, RUNNABLE */
	struct state_value ended; /* BLOCKED: as RUNNABLE has it: who ended it */
};

/* States with their causes: what shares of time are counted by. */
enum {
	SHARE_UNKNOWN,
	SHARE_RUNNING,
	SHARE_SPINNING,
	SHARE_RUNNABLE,
	SHARE_BLOCKED, /* and CAUSES of them from here on */
	SHARES = SHARE_BLOCKED + CAUSES,
};

/* What a CPU does, where a thread has shares. */
enum cpu_share {
	CPU_SHARE_UNKNOWN,
	CPU_SHARE_TRACED, /* a traced thread has it */
	CPU_SHARE_OTHER,
	CPU_SHARE_IDLE,
	CPU_SHARES,
};

static inline unsigned int state_share(enum state_kind kind, uint8_t why)
{
	if (kind == STATE_BLOCKED)
		return SHARE_BLOCKED + (why < CAUSES ? why : CAUSE_OTHER);
	return kind;
}
