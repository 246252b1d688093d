/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pinch has found, ready to be shown: ranked, named, grouped. Views read it and
 * compute nothing. Strings that a traced program chose are as it wrote them: views escape.
 * The report owns all it points to. A key tells the same thing in all reports of a run.
 *
 * Owns: what a report consists of; it computes nothing.
 * Used by: any folder above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_frame.h"
#include "values.h"

struct report_line {
	const char *file;
	uint32_t line;
	uint64_t count;
};

struct report_function {
	const char *name;         /* a function, or module+0xoffset */
	uint64_t count;           /* samples */
	uint64_t stack_top_count; /* of them, stack tops that stand in for samples */
	const struct report_line *lines;
	size_t line_count;
};

struct report_path {
	uint32_t rank; /* by CMetric, from 1 */
	uint64_t cmetric_ns;
	double wall_share; /* cmetric_ns / wall_ns */
	uint64_t slices;
	uint64_t stalled_ns;             /* stalls that ended when threads blocked here woke up */
	bool is_estimated;               /* stacks were sampled */
	const char *const *thread_names; /* distinct, at most 4 */
	size_t thread_name_count;
	uint64_t thread_count;
	const struct report_frame *frames; /* innermost first; none: could not be read */
	size_t frame_count;
	enum stack_end stack_end; /* why there are no more frames */
	const struct report_function *functions;
	size_t function_count;
	const char *cause, *group; /* why most of its slices ended; NULL: not known */
	uint64_t key;
};

/* A function in which critical slices were, whatever their call paths. */
struct report_hot_function {
	struct report_function function;
	uint64_t cmetric_ns; /* its part of each path's, by samples */
};

/* How many of a row's threads were in a state, in the mean over a part of the time traced. */
struct report_strip_part {
	float running, runnable, blocked;
};

struct report_thread {
	uint32_t tid, pid; /* as the container sees them */
	uint32_t host_tid, host_pid;
	uint32_t number; /* unique in the run; 0: it stands for several */
	const char *name;
	uint64_t thread_count; /* above 1: dead threads folded into one row */
	uint64_t cmetric_ns, cmetric_oncpu_ns;
	uint64_t running_ns, runnable_ns, blocked_ns, slices, critical_slices;
	uint64_t stalls_ended_ns;
	uint64_t inactive_ns;                  /* of running and runnable: it spun, and did not count */
	const struct report_strip_part *strip; /* [strip_count]; NULL: none was kept */
	uint64_t key;
};

/* Threads that belong together: the same name but for its number, or start function. */
struct report_group {
	const char *name;
	bool is_start_function;
	uint64_t thread_count;
	uint64_t cmetric_ns;
	double imbalance;                    /* largest thread's CMetric over the group's mean; 1: even */
	const struct report_thread *threads; /* by CMetric, largest first */
	size_t row_count;
	const struct report_strip_part *strip; /* of all its threads; NULL: none was kept */
	uint64_t key;
};

/* Who or what ended waits. */
struct report_waker {
	const char *context; /* "thread", "timer" and so on: doc/report-schema.json */
	const char *name;    /* of the thread, the first of them, or NULL */
	const char *names;   /* of several threads, numbers as '*'; NULL: it was one */
	double share;        /* of the time waited */
	uint64_t lost_ns, count;
	uint64_t cmetric_ns; /* criticality: what it was given while it was waited for */
	const struct report_frame *frames;
	size_t frame_count;
	uint64_t cmetric_max_ns; /* of the single one that was most critical */
	uint64_t key;
};

/* A call path at which threads waited. */
struct report_wait {
	const char *cause, *group;
	const char *object;        /* what for, NULL: not known, or several things */
	uint64_t lost_ns, idle_ns; /* thread-time; of it, idle */
	uint64_t count, max_ns;
	uint64_t cmetric_ns; /* of the critical slices that ended here */
	bool is_estimated;
	const struct report_frame *frames;
	size_t frame_count;
	enum stack_end stack_end;
	const struct report_waker *wakers; /* by time waited for them, longest first */
	size_t waker_count;
	uint64_t cmetric_max_ns;  /* of the single slice that was most critical */
	const char *worst_object; /* what for, then; NULL: not known */
	uint64_t key;
	const char *kind; /* of lock, if its waiters sleep on something of their own; or NULL */
};

struct report_lock {
	const char *name;   /* a variable's, or NULL */
	const char *object; /* its address, or what it is known by */
	const char *kind;   /* "mutex" */
	const char *where;  /* the first function of the user's own that waited, or NULL */
	uint64_t waits, wait_ns, idle_ns, p50_ns, p99_ns, max_ns;
	uint64_t queue_max;
	uint64_t hold_ns, holds;
	const char *holder;                   /* the thread that was met most often; NULL: not known */
	const struct report_waker *unlockers; /* by criticality, largest first */
	size_t unlocker_count;
	const char *ender; /* the thread that ended most of the waiting; NULL: not known */
	double ender_share;
	uint64_t vain_count; /* wake-ups after which a thread waited again at once */
	uint64_t key;
	bool is_waiters;             /* no lock, but what one of its waiters sleeps on */
	uint64_t endless_ns;         /* of wait_ns: by threads that are in a deadlock or behind one */
	uint64_t holder_waited_ns;   /* of hold_ns: its holder waited itself; at least that */
	const char *holder_waits_at; /* "sleep in f", where that was longest; NULL: not known */
	const char *holder_wait;     /* who had it at last, and what that waited for; NULL: not known */
};

/* A call path at which kernel locks were waited for, or where an owner was. */
struct report_klock_stack {
	const struct report_frame *frames;
	size_t frame_count;
	const struct report_frame *wanting; /* the first one behind those that take locks; NULL: not known */
};

struct report_klock_waiter {
	const char *thread;  /* its name; NULL: those of which there were too many */
	const char *context; /* "softirq" or "interrupt", which had its CPU; NULL: it waited itself */
	uint32_t pid, tid;
	uint64_t waits, wait_ns, max_ns;
	size_t stack; /* one of klocks.stacks, counted from 1 on; 0: not known */
};

struct report_klock_owner {
	const char *thread; /* NULL: readers, of whom none is known */
	uint32_t tid;
	uint64_t waits, wait_ns; /* of those that began while it had the lock */
	size_t stack;            /* one of klocks.stacks, counted from 1 on; 0: not known */
};

struct report_klock_path {
	size_t stack;
	uint64_t waits, wait_ns; /* estimates where stacks are thinned out */
};

/* A kernel lock, taken in one way. */
struct report_klock {
	const char *name;    /* "i_rwsem of /var/log/x"; NULL: not known */
	const char *kind;    /* "rwsem write" */
	const char *address; /* "0xffff888101234567"; "others" */
	const char *cache;   /* what the kernel calls memory of this kind; NULL: not known */
	const char *where;   /* the function of the kernel that waited most, or took it first; NULL: not known */
	uint64_t waits, wait_ns, p50_ns, p90_ns, p99_ns, max_ns;
	uint64_t lasting, gave_up;                 /* of waits: not over at the end; given up without the lock */
	uint64_t acquisitions;                     /* with report_klocks.counts_acquisitions, as the following */
	uint64_t take_ns;                          /* from asking for it to having it, spinning included */
	uint64_t holds, hold_ns, max_hold_ns;      /* that ended */
	const struct report_klock_waiter *waiters; /* by time waited, longest first, as the following */
	const struct report_klock_owner *owners;
	const struct report_klock_path *paths;
	size_t waiter_count, owner_count, path_count;
	const uint32_t *lengths; /* [LENGTHS] of waits */
};

/* All locks of a kind together. */
struct report_klock_kind {
	const char *kind;
	uint64_t waits, wait_ns, p25_ns, p50_ns, p75_ns, p99_ns, max_ns;
	const uint32_t *lengths;
};

struct report_klocks {
	uint64_t waits, wait_ns;
	uint64_t tracing_ns;              /* what it took to note that waits began; no part of them */
	const struct report_klock *locks; /* by time waited, longest first; then by time held */
	size_t waited_count;              /* of these, the first ones: the others were only taken */
	bool counts_acquisitions;
	uint64_t acquisitions, take_ns, hold_ns;
	uint64_t take_cost_ns, hold_cost_ns; /* what it takes to note one: no part of them; 0: not known */
	const struct report_klock_kind *kinds;
	const struct report_klock_stack *stacks;
	size_t lock_count, kind_count, stack_count;
};

/* The other end of a pipe or a connection. */
struct report_peer {
	const char *process, *thread; /* names; NULL: not known */
	uint32_t pid;                 /* as the host sees it; 0: not known */
	double share;                 /* of the time waited, that this thread, or its like, ended */
};

/* What threads waited for it to do: parts of wait_ns; the rest was neither. */
struct report_transfer {
	uint64_t read_ns, write_ns;
	uint64_t asked_bytes, asked_count; /* of the waits of which it is known */
};

struct report_file {
	const char *path; /* "others": all that found no room */
	uint64_t inode;
	uint32_t major, minor;
	bool is_deleted;
	const char *cause;
	uint64_t wait_ns, idle_ns, count, max_ns, cmetric_ns;
	uint64_t key;
	struct report_transfer transfer;
	struct report_peer other_end;
};

struct report_socket {
	const char *family;       /* "ipv4", "ipv6", "unix" or "other" */
	const char *local, *peer; /* empty: none */
	const char *host;         /* that the program resolved to the peer; NULL: not known */
	uint64_t wait_ns, idle_ns, count, max_ns, cmetric_ns;
	uint64_t key;
	struct report_transfer transfer;
	struct report_peer other_end;
};

/* What stands out, and what speaks for it. */
struct report_finding {
	const char *title;   /* a sentence without its full stop */
	const char *pattern; /* "convoy" and so on: doc/report-schema.json */
	const char *cause;
	double share;                /* of all threads' time that was not idle: what is lost by it */
	const char *const *evidence; /* sentences */
	size_t evidence_count;
	uint32_t wait_rank, path_rank; /* where to look: in waits and in paths, from 1; 0: nowhere */
};

/* Thread time by cause. */
struct report_cause {
	const char *cause, *group;
	uint64_t lost_ns, idle_ns, count;
	bool is_active; /* threads could run then: "preempted", "throttled" */
};

/* Who had the CPU while threads that could run waited for one. */
struct report_rival {
	const char *kind; /* "program", "process", "kernel", "idle" or "other" */
	const char *name; /* of a process or a thread of the kernel; NULL: none is known */
	uint32_t pid;     /* the same; else 0 */
	uint64_t wait_ns;
};

struct report {
	struct {
		const char *command;  /* as the user gave it */
		const uint32_t *pids; /* host pids given or started */
		size_t pid_count;
		uint64_t wall_ns;
		int exit_status; /* of the command; -1: none (attach, or still running) */
		bool is_running; /* traced threads were left alive */
	} target;
	struct {
		uint64_t active_ns, stalled_ns, cmetric_ns, critical_ns;
		uint64_t critical_cmetric_ns; /* on-CPU CMetric of all critical slices, exact */
		int64_t closure_error_ns;
		uint64_t threads, alive_max;
		uint64_t switches, slices, critical_slices, samples, stack_tops, stalls;
		double parallelism; /* mean number of active threads over the wall time */
		uint32_t nmin;
		bool is_nmin_default;
		bool is_spin_inactive; /* threads that spin are not counted as active */
	} totals;
	const uint64_t *parallelism_ns; /* [n]: time with n threads active */
	size_t parallelism_count;
	const uint64_t *parallelism_spinning_ns; /* [n]: of it, spinning; NULL: not known */
	const double *timeline;                  /* mean active threads in equal parts of the wall time */
	size_t timeline_count;
	struct {
		uint64_t records, gaps, gap_ns; /* ring buffers were full */
		uint64_t samples;               /* the same, of the sampler's */
		uint64_t malformed, late, unordered;
		uint64_t hidden;            /* switches that the kernel tells no tracer of */
		uint64_t stacks_unreadable; /* critical slices with an empty stack */
		uint64_t stacks_not_kept;   /* by the governor */
		double keep_min;            /* smallest probability of keeping one */
		uint64_t stacks_resent;
		uint64_t mappings; /* mapping records lost */
		uint64_t threads_untracked;
	} losses;
	struct {
		uint64_t taken, frames;       /* of the program, in all of them */
		uint64_t ends[STACK_ENDS];    /* why they have no more frames */
		uint64_t unwound_late;        /* from copies: no tables yet, or found blocked */
		uint64_t ns, median_ns;       /* spent on them in the BPF programs */
		uint64_t tables, table_bytes; /* unwind tables, memory in the kernel */
	} stacks;
	struct {
		uint64_t bpf_ns, bpf_runs;
		uint64_t collector_cpu_ns, peak_rss_bytes, startup_ns, post_processing_ns;
		uint64_t events, event_bytes;
	} cost;
	const struct report_path *paths;
	size_t path_count;
	uint64_t path_count_all; /* before the limit of --top */
	struct {
		const struct report_frame *frame; /* NULL: none that says more than the first path */
		uint64_t cmetric_ns, path_count;
		double wall_share;
	} trunk;                               /* a function that at least half of all paths' CMetric went through */
	const struct report_path *stall_paths; /* whose ends ended most of the stalled time */
	size_t stall_path_count;
	const struct report_hot_function *hot_functions; /* by CMetric, largest first */
	size_t hot_function_count;
	const struct report_waker *unlocks; /* of all locks; by their most critical one */
	size_t unlock_count;
	struct {
		uint64_t thread_ns; /* all threads' lives: the following add up to it */
		uint64_t busy_ns;   /* of it, what was not idle: the shares of waits are of this */
		uint64_t running_ns, runqueue_ns;
		uint64_t spinning_ns;                    /* of running_ns: waiting with the CPU */
		uint64_t throttled_ns, throttled_max_ns; /* of runqueue_ns; of one wait */
		const struct report_cause *causes;       /* by lost time, longest first */
		size_t cause_count;
		const struct report_rival *rivals; /* by time, most first; all of the waits for a CPU */
		size_t rival_count;
		int64_t closure_error_ns;
		/* Who ended them is not told: the kernel hid it, records were lost, or without a reason. */
		uint64_t hidden_waits, lost_waits, odd_waits;
		uint64_t wall_useful_ns, wall_spinning_ns, wall_stalled_ns; /* the wall time */
		uint64_t samples, samples_spinning; /* of running threads: what spinning rests on */
	} balance;
	const struct report_finding *findings; /* deadlocks first; by share, largest first */
	size_t finding_count;
	const struct report_wait *waits; /* by lost time that is not idle, longest first */
	size_t wait_count;
	const struct report_lock *locks; /* by lost time, longest first */
	size_t lock_count;
	struct report_klocks klocks;
	const struct report_file *files;
	size_t file_count;
	const struct report_socket *sockets;
	size_t socket_count;
	const struct report_group *groups; /* by CMetric, largest first */
	size_t group_count;
	size_t strip_count; /* parts of the time traced, all as long but the last */
	uint64_t strip_part_ns;
	const char *const *notes; /* sentences for the user: what was missing and why */
	size_t note_count;
};
