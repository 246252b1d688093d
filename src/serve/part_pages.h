/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of pinch make of a trace, or of a part of it (trace_part.h), in processes of their own: so that the viewer goes on
 * meanwhile, and says the same as they do. The last few answers are kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct part_pages;
struct reply;
struct request;

/* The path is borrowed. opens_files: reports of a trace without names have those of the files that it names. */
struct part_pages *part_pages_new(const char *trace_path, bool opens_files);
void part_pages_free(struct part_pages *pages);

/* These may be called by several threads. */

/*
 * Whether the trace is being written: then what is made of it is of what there is by then. first_ns: since when the times of requests count, for
 * a ring overwrites its begin; CLOCK_MONOTONIC, 0: since the first event.
 */
void part_pages_set_growing(struct part_pages *pages, bool is_growing, uint64_t first_ns);

/* The page of pinch report --html. cause, object: as its --cause and --object, may be repeated. */
void part_pages_report(struct part_pages *pages, const struct request *request, struct reply *reply);

/* The JSON of pinch whatif. One of lock, waits, cause, function: what is made faster; else what would gain most. scale: as --scale. */
void part_pages_whatif(struct part_pages *pages, const struct request *request, struct reply *reply);

/*
 * The page of pinch compare --html, of a part of the trace and one of another trace: its parameters are from_b, to_b and thread_b. The path
 * is borrowed, and the same each time.
 */
void part_pages_compare(struct part_pages *pages, const char *other_path, const struct request *request,
			struct reply *reply);

/* The page of pinch compare --html, of groups of the executions of the trace (group_question.h). */
void part_pages_compare_executions(struct part_pages *pages, const struct request *request, struct reply *reply);

/* The part, to be kept: as a trace, or in the format of pinch export that the parameter format names. */
void part_pages_save(struct part_pages *pages, const struct request *request, struct reply *reply);
