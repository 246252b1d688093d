/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a trace that a request is about, as a trace of its own: what pinch cut makes of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct text;

enum { PART_THREADS_MAX = 512 };

struct trace_part {
	uint64_t first_ns;      /* since when its times count; CLOCK_MONOTONIC, 0: since the first event */
	int64_t from_ns, to_ns; /* since the first event; to_ns: INT64_MAX: to the end */
	uint32_t threads[PART_THREADS_MAX];
	size_t thread_count; /* 0: all */
};

/* Parameters: from, to; thread: numbers, it may be repeated. All may be left out. False: they make no sense. */
bool trace_part_read(const struct request *request, struct trace_part *out);

/* The same of the second of two traces that are compared: from_b, to_b, thread_b. */
bool trace_part_read_second(const struct request *request, struct trace_part *out);

bool trace_part_is_whole(const struct trace_part *part);

/* Puts what tells it from other parts. */
void trace_part_put_key(const struct trace_part *part, struct text *out);

/* Where it lies: in a directory that nobody else can read, unless it is the whole. */
struct part_file {
	char directory[32], path[48]; /* empty: it is the trace itself */
};

/* 0, or a negative errno with messages for the user. */
int part_file_make(const struct trace_part *part, const char *trace_path, struct part_file *out, struct text *messages);
/* The same of the whole, too, which may be growing. */
int part_file_cut(const struct trace_part *part, const char *trace_path, struct part_file *out, struct text *messages);
/* Where nothing lies yet. 0 or a negative errno. */
int part_file_place(struct part_file *out);
void part_file_remove(struct part_file *file);

/* Its path. */
const char *part_file_path(const struct part_file *file, const char *trace_path);
