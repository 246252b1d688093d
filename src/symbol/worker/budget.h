/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much reading files may cost, in all: of one file, of all files of one user, and of all files that neither
 * root nor the caller made. A file that is dear to read takes from its owner's share, never from another's, and
 * however many there are, the tool has to wait for them no longer than a bound.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct module;

struct budget *budget_new(void);
void budget_free(struct budget *budget); /* may be NULL */

/*
 * What is left for a question about the module's file, ns of CPU; 0: nothing. Debug information may take three
 * quarters of each share, so that symbols are still read when it was too dear.
 */
uint64_t budget_left_ns(const struct budget *budget, const struct module *module, bool wants_debug);

/* How much memory the worker may take more for it, bytes. */
size_t budget_memory_bytes(const struct budget *budget, const struct module *module);

/* A question about it took so much CPU time, and so long. */
void budget_spend(struct budget *budget, const struct module *module, uint64_t cpu_ns, uint64_t elapsed_ns);

/*
 * The same of what is read of processes while they run: Python's objects, and symbol files of JIT compilers. What is
 * waited for counts, for a process may take its time over each of its pages; and it counts less as time goes by.
 * process: any number that tells it from others. Root's processes have a share each; those of other users share
 * one, too, and so do all of these.
 */
uint64_t budget_process_left_ns(struct budget *budget, uint64_t process, uint32_t user);

/* False: the user's share is used up. */
bool budget_spend_process(struct budget *budget, uint64_t process, uint32_t user, uint64_t waited_ns);

/* The worker died of one, after so long. */
void budget_spend_death(struct budget *budget, const struct module *module, uint64_t elapsed_ns);
