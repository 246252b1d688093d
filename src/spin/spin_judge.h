/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a thread that was seen at an address waits there, using its CPU for it: by what its
 * function is called (~ in share/fold.rules), or by its code (spin_loop.h). What was found is kept
 * by place in the file, for the next time and for other processes.
 *
 * Owns: whether a thread waits where it runs.
 * Used by: findings/parts, engine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spin/spin_loop.h"

struct fold_rules;
struct spin_judge;
struct symbol_request;
struct symbols;

/* Borrows both. */
struct spin_judge *spin_judge_new(struct symbols *symbols, const struct fold_rules *fold);
void spin_judge_free(struct spin_judge *judge);

/* Looks at addresses that will be asked for, which takes less time together. */
void spin_judge_prepare(struct spin_judge *judge, const struct symbol_request *requests, size_t count);

/*
 * ip and kernel_ip as in sched.SAMPLE, of process pid as its address space was at time_ns. What is
 * in the kernel spins if the kernel's function does, or the program's by its name.
 */
bool spin_judge_is_spin(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip);

/*
 * Whether that is said by the code of this loop alone, in the process's addresses: then samples have to show that
 * it repeats (spin_repeats.h).
 */
bool spin_judge_is_by_loop(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip,
			   struct spin_loop *out);

/* The loop around the address, in the process's addresses. False: it is in none. */
bool spin_judge_find_loop(struct spin_judge *judge, uint32_t pid, uint64_t time_ns, uint64_t ip, struct spin_loop *out);
