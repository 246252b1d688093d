/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times by call path, for formats that are profiles. A path begins with the thread's name, without what names that are numbered
 * differ in, and ends, of a wait, with what it is for. Of too many paths, the rest is counted together.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_frame;

/* What is summed, in ns. */
enum sum_kind {
	SUM_CMETRIC, /* of active threads */
	SUM_LOST,    /* waits for anything, a CPU too */
	SUM_LOCK,    /* of them, for locks */
	SUM_CPU,     /* running, also in spin loops */
	SUM_KINDS,
};

extern const char *const sum_kind_names[SUM_KINDS];

/* A frame, as it is shown; strings belong to the sums. */
struct sum_frame {
	const char *name; /* escaped */
	const char *file; /* source; NULL: not known */
	uint32_t line;
	const char *module; /* base name of the file that holds the code; NULL: not known, or not of a program */
	uint64_t offset;
};

struct sum_stack {
	const char *cause;      /* of a wait: "lock"; NULL: the thread was running */
	const uint32_t *frames; /* outermost first: numbers for stack_sums_frame() */
	size_t frame_count;
	uint64_t ns[SUM_KINDS];
};

struct stack_sums;

struct stack_sums *stack_sums_new(void);
void stack_sums_free(struct stack_sums *sums);

/* What is added. All strings are borrowed, those of frames, too, and stay as they are as long as the sums: they are known again by where they lie. */
struct sum_part {
	const char *thread; /* its name; not escaped */
	const char *cause;  /* as in struct sum_stack; the path ends with it */
	const char *object; /* with a cause: what the wait is for; else what the path ends with; NULL: nothing */
	const struct report_frame *frames;
	size_t frame_count; /* innermost first */
};

/* The number of a path, from 0 on, for stack_sums_add(). */
uint32_t stack_sums_path(struct stack_sums *sums, const struct sum_part *part);
void stack_sums_add(struct stack_sums *sums, uint32_t path, enum sum_kind kind, uint64_t ns);

size_t stack_sums_count(const struct stack_sums *sums);
struct sum_stack stack_sums_at(const struct stack_sums *sums, size_t path);

size_t stack_sums_frame_count(const struct stack_sums *sums);
const struct sum_frame *stack_sums_frame(const struct stack_sums *sums, uint32_t frame);

/* The weight of paths that found no space: of all kinds. */
uint64_t stack_sums_left_out_ns(const struct stack_sums *sums);
