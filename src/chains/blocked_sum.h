/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of what was done while others waited. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/wait_cause.h"

struct code_sample;
struct table;
struct wait_path;

/* What chains may take in all, and take: bytes of pasts, and rows of sums. */
struct chain_budget {
	size_t bytes, bytes_max, rows, rows_max;
};

/* Samples are of several kinds, which are not mixed: enum code_source of code_samples.h. */
enum { CHAIN_SOURCES = 2 };

/* The code that those ran, by samples. */
struct blocked_code {
	const struct code_sample *code, *kin;
	double weight; /* of samples, each as often as somebody waited */
	struct blocked_code *next;
};

/* What they waited for that no traced thread ended. */
struct blocked_wait {
	enum wait_cause cause;
	const struct wait_path *path; /* NULL: where is not known */
	double ns;
	struct blocked_wait *next;
};

enum blocked_kind {
	BLOCKED_RUNNING,  /* they ran */
	BLOCKED_CPU_WAIT, /* they had no CPU */
	BLOCKED_WAITING,  /* they waited: waits says for what */
	BLOCKED_UNKNOWN,  /* it is too long ago, or was not recorded */
	BLOCKED_KINDS,
};

/*
 * Of waits that traced threads ended, estimated where only some of their stacks were kept: what those did, and behind
 * waits of theirs (links) what those did who ended these, and so on. All sums of such a tree together have the time of
 * the waits.
 */
struct blocked_sum {
	double ns[BLOCKED_KINDS];
	struct blocked_code *code;
	struct table *index;                  /* of code, by its address; NULL: it is short */
	double weight[CHAIN_SOURCES];         /* of all samples, also of those beyond the list */
	uint64_t sample_count[CHAIN_SOURCES]; /* of them, each counted once */
	uint64_t latest_ns[CHAIN_SOURCES];    /* of a sample that was counted before this walk, */
	uint64_t newest_ns[CHAIN_SOURCES];    /* and by now */
	uint64_t walk;                        /* the number of the last walk that added samples */
	struct blocked_wait *waits;
	size_t code_count, wait_count, link_count;
	bool has_links;
	const struct wait_path *path; /* at which this is waited for; NULL: not known, or many */
	struct blocked_sum *links, *next;
};

/* The caller's, allocated, with its links. */
void blocked_sum_free(struct blocked_sum *sum, struct chain_budget *budget);

/*
 * What samples of the code weigh. Where there are many, it counts as its kin, which has the same call path, and so most likely the
 * same innermost function; beyond the bounds it has no row.
 */
void blocked_sum_add_code(struct blocked_sum *sum, struct chain_budget *budget, const struct code_sample *code,
			  const struct code_sample *kin, double weight);

/* To the row of such waits; beyond the bounds it has none. */
void blocked_sum_add_wait(struct blocked_sum *sum, struct chain_budget *budget, enum wait_cause cause,
			  const struct wait_path *path, double ns);

/*
 * The time of one of its waits with its part of those of the same cause of which it is not known where they were: for
 * their stacks were not kept, which chance decides. Of these it is 0, unless no other has the cause.
 */
double blocked_sum_wait_ns(const struct blocked_sum *sum, const struct blocked_wait *wait);

/*
 * What is behind waits at the path. Waits at one place for each other are one context (Algorithm 2 of DepGraph merges
 * equal ones): the sum itself then; so if it has no links, and beyond the bounds.
 */
struct blocked_sum *blocked_sum_link(struct blocked_sum *sum, struct chain_budget *budget,
				     const struct wait_path *path);

/* So much of what another sum has, which has no links. */
void blocked_sum_add_part(struct blocked_sum *sum, struct chain_budget *budget, const struct blocked_sum *from,
			  double part);
