/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a thread waits: what its system call and the state of its CPU tell by themselves. What only
 * the functions above the call can tell apart (one futex from another), findings do.
 *
 * Owns: what is known of one wait: its cause, its file or lock, and threads that are not traced.
 * Used by: any folder above.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "report/report_enums.h"

struct file_info;

/* What a blocked thread's registers said: fields of sched.SWITCH. */
struct wait_facts {
	uint64_t object;
	uint32_t value;
	uint32_t owners[3];
	uint16_t syscall, operation;
	uint8_t state, flags;
	bool is_endless; /* a futex that is waited for without a limit of time; else that is not known */
};

struct wait_facts wait_facts_of(const struct ev_sched_switch *e);

/* Of a thread of io_uring that does a request for others. */
struct wait_facts wait_facts_of_work(void);

/* file: what the object is, when it is one, or NULL. */
enum wait_cause wait_cause_of(const struct wait_facts *facts, const struct file_info *file);

/* Whether object is a kernel lock, and value the tid of who has it. */
bool wait_has_klock(const struct wait_facts *facts);

/* Whether object is a futex word: its address, unless wait_is_in_file(). */
bool wait_has_futex(const struct wait_facts *facts);

/* Whether object is a place in a file that processes share, as file.PLACE names it. */
bool wait_is_in_file(const struct wait_facts *facts);

/* Without the flags: FUTEX_WAIT, FUTEX_LOCK_PI and so on. */
uint32_t wait_futex_command(const struct wait_facts *facts);

/* Whether object names a file. */
bool wait_has_file(const struct wait_facts *facts);

/* Whether such a wait has a row of a lock. */
bool wait_is_for_lock(const struct wait_facts *facts, enum wait_cause cause);

/* Whether a worker of the kernel's, which works for the process (io_uring, vhost), waits for something to do. */
bool wait_is_for_work(const struct wait_facts *facts);

/* Whether it is a page fault on memory of no file. */
bool wait_is_on_memory(const struct wait_facts *facts);
