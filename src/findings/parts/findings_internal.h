/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that make a report share.
 *
 * Owns: the parts of a report, made of what analyses hold.
 * Used by: findings/blame, findings/code, findings/patterns, findings/verdict, findings.
 */
#pragma once

#include "base/memory.h"
#include "findings/names/object_names.h"
#include "findings/names/path_names.h"
#include "findings/parts/findings_input.h"
#include "report/report.h"

enum { FINDINGS_SPIN_NAMES_MAX = 4 };

/* So many call paths are looked at for what stands out, however many are reported: that is the same then. */
enum { FINDINGS_PATHS_READ = 32 };

struct blame;
struct klock_words;
struct run_place;

/* A function in which threads spin. */
struct findings_spin {
	struct report_frame frame;
	uint64_t count;                             /* samples */
	const char *word;                           /* the variable that ends the wait; NULL: unknown */
	const char *reads;                          /* the instruction that reads it; NULL: unknown */
	const char *names[FINDINGS_SPIN_NAMES_MAX]; /* of threads, distinct */
	size_t name_count;
	double met, covered; /* of moments (chains/run_moments.h): there, and those of them that another row tells */
};

struct findings {
	struct findings_input input;
	struct arena *arena; /* owns all that the report points to */
	struct report report;
	const char **notes;
	size_t note_capacity;
	struct path_names *names;
	struct object_names objects;
	struct findings_spin *spins; /* by samples, most first */
	size_t spin_count;
	struct table *repeats; /* see findings_repeats.c; NULL until it is needed */
	struct klock_words *klock_words;
	struct blame *blame;              /* see findings/blame; NULL until it is made */
	struct stuck *stuck;              /* who waits for ever; while the report is made */
	struct table *children;           /* see findings_children.c; NULL until it is needed */
	const struct wait_choice *choice; /* what rows of waits are made of; NULL: all waits */
	struct report_finding *stand_out; /* report.findings, whose words may change until the report is made */
	uint32_t code_source;             /* enum code_source: which samples count */
	uint64_t span_ns;                 /* from the first traced thread to the last */
	struct symbol_request *requests;  /* addresses that will be named soon */
	size_t request_count, request_capacity;
};

/* findings_paths.c: fills in report.paths: those that are read as well, until findings_end_paths(). */
void findings_add_paths(struct findings *findings);

/* findings_path_counts.c: of so many that there are, how many to make, and how many to read for what stands out. */
size_t findings_paths_made(const struct findings *findings, size_t count);
size_t findings_paths_read(const struct report *report);

/* findings_path_counts.c: leaves in report.paths as many as are asked for. */
void findings_end_paths(struct findings *findings);

/* findings_klocks.c: fills in report.klocks. */
void findings_add_klocks(struct findings *findings);

/* findings_listeners.c: fills in report.listeners. */
void findings_add_listeners(struct findings *findings);

/* findings_activities.c: fills in report.activities, and notes on filters and scripts. */
void findings_add_activities(struct findings *findings);

/* findings_goroutines.c: fills in report.goroutines. */
void findings_add_goroutines(struct findings *findings);

/* A call path, as the trunk of all of them is made of. */
struct trunk_path {
	uint32_t pid;
	uint64_t first_ns, stack;
	double cmetric_ns;
};

/* findings_trunk.c: fills in report.trunk. paths: by CMetric, largest first. */
void findings_add_trunk(struct findings *findings, const struct trunk_path *paths, size_t count);

/* findings_groups.c: how threads are called together whose names differ in numbers: "work-12", "work-*". */
const char *findings_group_name(struct findings *findings, const char *name);

/* "pid 4711", or in a trace of several hosts "pid 4711 on web1". */
const char *findings_pid_words(struct findings *findings, uint32_t pid);

/* findings_groups.c: fills in report.groups. */
void findings_add_groups(struct findings *findings);

/*
 * findings_stack.c: notes a stack, or one address, that will be named soon; findings_prepare()
 * looks all of them up. Naming does not depend on it, and is faster after it.
 */
void findings_request_stack(struct findings *findings, uint32_t pid, uint64_t time_ns,
			    const struct ev_stack_frames *stack);
void findings_request(struct findings *findings, const struct symbol_request *request);
void findings_prepare(struct findings *findings);

/*
 * findings_stack.c: equal for stacks that are one to the user: the innermost function as a whole,
 * because a slice may end anywhere in it, and the callers' call sites.
 */
uint64_t findings_stack_key(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t name);

/* findings_strips.c: into which parts the time is divided; then a strip in these parts, or NULL. */
struct thread_strip;
void findings_begin_strips(struct findings *findings);
const struct report_strip_part *findings_strip(struct findings *findings, const struct thread_strip *strip);

/* findings_summary.c: fills in report.hot_functions and unlocks, from what is in it already. */
void findings_add_summary(struct findings *findings);

/* The same of report.unlocks alone, from the locks that are in it by then. */
void findings_add_unlocks(struct findings *findings);

/* findings_spin.c: examines where threads ran, all at once, before anybody asks of one place. */
void findings_prepare_spinning(struct findings *findings);

/*
 * findings_spin.c: the function in which threads were seen running most often, counting places that are
 * wanted, as "do_job (pool.c:12)"; NULL when they were seen in none.
 */
const char *findings_busiest_function(struct findings *findings,
				      bool (*is_wanted)(const void *data, const struct run_place *place),
				      const void *data);

/*
 * findings_repeats.c: whether a thread that was seen there waits, using its CPU for it, as far as samples show that the
 * loop around the address repeats. ip and kernel_ip as in sched.SAMPLE.
 */
bool findings_is_spin_at(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip);

/* findings_spin.c: the row that has such samples; NULL: none. */
struct findings_spin *findings_find_spin(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t ip,
					 uint64_t kernel_ip);

/* findings_spin.c: whether most samples of the path are in code that waits for others, spinning. */
bool findings_is_spin(struct findings *findings, const struct path_metrics *path);

/* findings_paths.c: whether a sample of the path is of generated code without a name. */
bool findings_ran_nameless(const struct report_path *path);

/*
 * findings_spin.c: what of the balance, which has the running time already, is spinning; and
 * findings.spins.
 */
void findings_add_spinning(struct findings *findings);

/* findings_waits.c: fills in report.waits, which all that follows examines; and once more, of the waits that are chosen by then. */
void findings_add_waits(struct findings *findings);
void findings_put_waits(struct findings *findings);
