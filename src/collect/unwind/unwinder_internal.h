/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the unwinder share. */
#pragma once

#include "collect/unwind/early_stacks.h"
#include "collect/unwind/module_tables.h"
#include "collect/unwind/unwind_memory.h"
#include "collect/unwind/unwinder.h"

enum { RANGES_MAX = 4096 /* of a process */ };

/* A process's ranges and the modules they lead to. Several processes share one after a fork. */
struct list {
	uint32_t place, range_count;
	uint32_t version;
	uint32_t user_count;
	struct python_process python;
	struct ruby_process ruby;
	struct v8_process v8;
	uint32_t module_count;
	struct module_table *modules[];
};

struct process {
	uint32_t pid;
	struct list *list; /* NULL: none */
	bool is_dirty;
	bool awaits_tables; /* of some that it maps */
	bool has_ended;     /* and early stacks are left of it */
	struct jvm_process jvm;
};

struct unwinder {
	struct session *session;
	struct symbols *symbols;
	struct unwinder_options options;
	struct unwind_memory memory;
	struct module_tables *tables;
	struct table *processes; /* by pid + 1 */
	/* Of the process that is being updated. */
	struct unwind_range *ranges;
	struct module_table **used;
	uint32_t range_count, used_count;
	struct python_process python;
	struct ruby_process ruby;
	struct v8_process v8;
	bool awaits_tables;
	uint32_t last_version;
	bool has_dirty;
	struct early_stacks *early;
	struct table
		*pythons; /* by the stack they are of, until it is unwound: struct ev_stack_python, which it owns */
	struct unwinder_counts counts; /* what is not counted elsewhere */
};

/* unwind_processes.c. A process is made if it is not there yet. */
struct process *unwinder_process(struct unwinder *unwinder, uint32_t pid);

/* Its mappings have changed. */
void unwinder_set_dirty(struct unwinder *unwinder, uint32_t pid);

/* Of a process with a list; the second informs the kernel side, with the flags of bpf_map_update_elem(): 0, or not. */
struct unwind_space unwinder_space(const struct process *process);
int unwinder_emit_list(const struct unwinder *unwinder, const struct process *process, uint64_t flags);

/* One user less; list: NULL: none. */
void unwinder_release_list(struct unwinder *unwinder, struct list *list);

/* Makes its ranges anew, and tells the kernel side. */
void unwinder_update_process(struct unwinder *unwinder, struct process *process);

/* Those that have been made meanwhile: processes that await them become dirty. */
void unwinder_take_tables(struct unwinder *unwinder);

/* copied_stacks.c: handlers of stack.PYTHON and stack.MEMORY; data: the unwinder. */
void copied_stacks_on_python(void *data, const struct ev_header *header);
void copied_stacks_on_memory(void *data, const struct ev_header *header);

/* Unwinds those that waited for tables: of processes that have theirs; all; of one whose mappings change. */
void copied_stacks_unwind(struct unwinder *unwinder);
void copied_stacks_unwind_all(struct unwinder *unwinder);
void copied_stacks_unwind_of(struct unwinder *unwinder, uint32_t pid);
