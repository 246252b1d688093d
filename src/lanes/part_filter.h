/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which parts of what threads did are looked at. Compared byte by byte: it begins zeroed, with its padding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PART_FILTER_WORDS_MAX = 8, PART_FILTER_WORD_BYTES = 128, PART_FILTER_CPUS_MAX = 64 };

struct part_words {
	char words[PART_FILTER_WORDS_MAX][PART_FILTER_WORD_BYTES]; /* parts of a name, whatever the case */
	size_t count;                                              /* 0: any */
};

struct part_filter {
	struct part_words objects;           /* waits for what is called so, and nothing else */
	uint32_t cpus[PART_FILTER_CPUS_MAX]; /* what ran there, and waits after which the thread ran there */
	size_t cpu_count;                    /* 0: any */
	/* What the threads of executions did while these lasted. */
	bool has_spans;
	struct part_words spans;
	uint64_t span_ns_min, span_ns_max; /* how long they are, both included */
	uint32_t execution_thread;         /* in which the only one begins; 0: any */
	uint64_t execution_begin_ns;       /* and when; CLOCK_MONOTONIC */
};
