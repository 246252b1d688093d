/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel side: the BPF programs, their rings and their switches. Nothing is pinned, so
 * all of it goes away with this process, however it ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/ring/ring.h"
#include "shared.h"
#include "values.h"

struct btf;
struct function_place;
struct kernel;
struct klock_spec;
struct span_specs;
struct text;

struct kernel_options {
	uint32_t nmin;  /* 0: half of the living threads */
	uint32_t depth; /* user frames of a stack, 1 to 127 */
	bool kernel_stacks;
	bool slice_stacks; /* critical slices end with one, also where samples tell what ran */
	bool threads_only, processes_only;
	bool trace_all;
	/*
	 * What executes a program under such a name is traced from then on; longer ones than have space are not awaited,
	 * and none with tells_system, where others are known by what they were before.
	 */
	const char *awaited_names[AWAITED_MAX]; /* borrowed */
	size_t awaited_count;
	bool follows_hosts;                    /* user_probes_add_resolver() will be called */
	bool tells_system;                     /* of all threads, and of interrupts, packets and disks */
	uint64_t sample_period_ns;             /* 0: no sampling */
	size_t ring_bytes;                     /* for switches and wake-ups, a CPU; a power of two; 0: default */
	const struct span_specs *spans;        /* borrowed */
	const struct usdt_specs *usdt;         /* borrowed; NULL: none */
	const struct klock_spec *acquisitions; /* borrowed; NULL: they are not counted */
};

/* Opens the programs. */
int kernel_open(const struct kernel_options *options, struct kernel **out);
void kernel_close(struct kernel *kernel);

/*
 * Begins to load the programs, in threads of their own, which have this one's priority; makes the rings meanwhile. Says what is missing
 * when it fails.
 */
int kernel_begin_load(struct kernel *kernel);

/* Waits until they are loaded. From here on traced threads leave records; before, the targets may be set. */
int kernel_attach(struct kernel *kernel);

/* Who puts probes into functions of programs, which kernel_detach() detaches; borrowed. */
struct user_probes *kernel_user_probes(struct kernel *kernel);

/* Who watches event loops come to their polls, until kernel_detach(); borrowed. */
struct loop_watch *kernel_loop_watch(struct kernel *kernel);

/* No more records come; those in the rings can still be read. */
void kernel_detach(struct kernel *kernel);

/* The period of samples at the kernel's ticks, ns; 0: there are none, or they are at times of their own. */
uint64_t kernel_tick_sampling_ns(const struct kernel *kernel);

/*
 * From now on further samples are taken by timers beside those at the ticks, at this period, ns: each CPU is
 * interrupted for them.
 */
void kernel_sample_beside_ticks(struct kernel *kernel, uint32_t period_ns);

/* From now on samples are taken by timers alone, which pass over the ticks, at nearly the period of those. */
void kernel_sample_off_tick(struct kernel *kernel);

/* The process's threads are traced once kernel_list_threads() has seen them. */
int kernel_add_target(struct kernel *kernel, uint32_t pid);

/* The process is traced from its next exec on. */
int kernel_add_command(struct kernel *kernel, uint32_t pid);

/* Makes the kernel side list all traced threads, and begin to trace those of the targets. */
int kernel_list_threads(struct kernel *kernel);

/*
 * Has the threads that are blocked tell where, each once for each wait (thread.WAITS). Returns how
 * many there was no space for in the rings, or a negative error number.
 */
int kernel_list_waits(struct kernel *kernel);

/*
 * The same of at most count of those that have been blocked for age_ns, above 0, and of each only the stack, if it has not been reported.
 * 0, or a negative errno.
 */
int kernel_list_long_waits(struct kernel *kernel, uint64_t age_ns, uint32_t count);

/*
 * Has it tell how many connections wait at the sockets at which traced processes listen (file.LISTENER), and what input they have
 * not read (file.UNREAD). is_second: only of input that the call before found new.
 */
int kernel_list_listeners(struct kernel *kernel, bool is_second);

/* Whether the last call that was no second one found input that was not there before, and whose age is not known. */
bool kernel_has_new_input(const struct kernel *kernel);

/*
 * Has the kernel side report how often kernel locks were taken since its last report (klock.HELD), also after
 * kernel_detach(). Returns of how many there was no space for in the rings, or a negative errno.
 */
int kernel_list_holds(struct kernel *kernel);

/* Rings of all CPUs, numbered from 0. */
unsigned int kernel_ring_count(const struct kernel *kernel);

struct symbols;

/* Gives names to the kernel's functions from now on, until kernel_close(), also after kernel_detach(). */
void kernel_tell_names(struct kernel *kernel, struct symbols *symbols);

/* Of the kernel's types, those that locks and programs need; NULL: it says none. Stays until kernel_close(). */
const struct btf *kernel_types_known(const struct kernel *kernel);

/* As ring_drain(). */
bool kernel_drain(struct kernel *kernel, unsigned int ring, ring_record_fn on_record, void *data);

/* How full the fullest ring is, 0 to 1; the samplers' do not count. */
double kernel_fill(const struct kernel *kernel);

/* Maps for unwinding: see unwinder.h. Borrowed. */
int kernel_unwind_chunks_fd(const struct kernel *kernel);
int kernel_unwind_spaces_fd(const struct kernel *kernel);

unsigned int kernel_cpu_count(const struct kernel *kernel);

/*
 * A descriptor that can be read when there is a reason to look before the time. kernel_hush() makes it wait for the next
 * one, and returns which there were: a set of 1 << enum bell. Owned by kernel.
 */
int kernel_doorbell_fd(const struct kernel *kernel);
unsigned int kernel_hush(struct kernel *kernel);

/* Before the rings are drained: what has names after that rings again. */
void kernel_await_names(struct kernel *kernel);

/*
 * Lets each CPU send some stacks as they lie in memory, for lack of unwind tables: when mappings
 * have changed, so that a program that has none cannot make it send nothing else.
 */
void kernel_allow_memory(struct kernel *kernel);

/* Slices that weigh less (ns of CMetric, at most 2^32-1) lose their stack by chance; 0: none. */
void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns);

struct kernel_counts {
	uint64_t lost, samples_lost;     /* records */
	uint64_t hidden;                 /* switches that the kernel reported to no tracer */
	uint64_t stack_ns;               /* spent on taking stacks */
	uint64_t governed_ns;            /* of it that of stacks that may be left out: all but those of samples */
	uint64_t stack_median_ns;        /* on half of them at most so much */
	uint64_t stack_ends[STACK_ENDS]; /* of those that were unwound in the kernel */
	uint64_t stack_frames;           /* of the program, in them */
	uint64_t threads_alive, threads_untracked;
	uint64_t runs, run_ns; /* of the scheduler's programs; ns are estimated */
};

struct kernel_counts kernel_counts(const struct kernel *kernel);

/* Records of the subsystem system, which are not in the counts. */
uint64_t kernel_system_lost(const struct kernel *kernel);

/* Waits for kernel locks that were not recorded whole. */
uint64_t kernel_klocks_lost(const struct kernel *kernel);

/* Sentences on what this kernel could not do; borrowed. */
const char *kernel_sampling_note(const struct kernel *kernel);

/* The same, on acquisitions of kernel locks, each with its NUL. */
void kernel_put_acquisition_notes(const struct kernel *kernel, struct text *notes);
