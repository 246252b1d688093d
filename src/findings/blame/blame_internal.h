/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make the blame share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/blame/blame.h"
#include "report/report.h"
#include "waits/sums/thread_set.h"

struct findings;
struct table;
struct wait_path;

enum { BLAME_DEPTH_MAX = 7 };

/* Lost time that came from a row of waits, or from spinning, through waits of others. */
struct blame_chain {
	const struct report_wait *wait; /* NULL: they spun, */
	const char *spin;               /* where */
	const struct wait_path *links[BLAME_DEPTH_MAX];
	size_t depth;
	double ns;
	struct blame_chain *next; /* of the same root */
};

/* What ended most of some waits, as struct report_root has it. */
struct blame_ending {
	const char *ender;
	bool is_timed;
};

/* One of the objects and places that a root is made of. */
struct blame_detail {
	enum wait_cause cause;
	const char *syscall, *object;
	const char *who; /* those that others waited for are called so; NULL: not known */
	struct blame_ending ending;
	const struct report_frame *frames;
	size_t frame_count;
	uint64_t object_key, place_key;
	double ns;
	struct blame_detail *next;
};

struct blame_root {
	struct report_root row; /* filled in when all is charged */
	uint32_t device;        /* of waits for files: major * 2^20 + minor; 0: not known */
	double ns, direct_ns, variance;
	struct thread_set victims;
	struct blame_detail *details;
	struct blame_chain *chains;
	struct blame_root *next; /* in the order of their appearance */
};

struct blame_spin;

struct blame {
	struct table *roots, *details, *chains; /* by key */
	struct table *threads;                  /* struct report_thread by number */
	struct blame_root *first, **last;
	const struct blame_spin *spins; /* by time, most first */
	size_t read_count;              /* sums of chains that were read, with what is in them */
};

/* blame_roots.c: the root of that kind alone. */
struct blame_root *blame_root_of_kind(struct findings *findings, enum root_kind kind);

/* The root of code that ran; no frames: where is not known. Charges nothing. */
struct blame_root *blame_root_of_code(struct findings *findings, const struct report_frame *frames, size_t count,
				      struct blame_detail **detail);

/* The root of waits that no traced thread ended. */
struct blame_root *blame_root_of_wait(struct findings *findings, const struct report_blocked_wait *wait,
				      struct blame_ending ending, struct blame_detail **detail);

/* blame_parts.c: by time, most first; frees the table, of struct blame_part. */
const struct blame_part *blame_list_parts(struct table *parts);

/* blame_users.c: fills in who had the CPUs, of the root of kind cpu, whose ns is there. */
void blame_add_cpu_users(struct findings *findings, struct report_root *root);

/* blame_users.c: the same of who had a disk, as far as requests to disks were recorded; device: major * 2^20 + minor. */
void blame_add_disk_users(struct findings *findings, struct report_root *root, uint32_t device);

/* blame_report.c: fills in report.blame of what was charged; so much was lost in all. */
void blame_put(struct findings *findings, uint64_t lost_ns);
