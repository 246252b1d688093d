/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of waits and samples, each made once for an address space: a call path is called as it was when it was first met in its
 * process, until that process execs or until there are too many of them. So memory grows with distinct objects alone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ev_sched_sample;
struct export_names;
struct graph_labels;
struct graph_wait;
struct report_frame;
struct threads;

struct export_names *export_names_new(struct graph_labels *labels, struct threads *threads);
void export_names_free(struct export_names *names);

/* From now on addresses of that process mean something else. */
void export_names_exec(struct export_names *names, uint32_t pid);

/* What the wait is for; NULL: not known. Lives as long as the labels. */
const char *export_names_object(struct export_names *names, const struct graph_wait *wait);

/* Forgets call paths if there are many: frames that were handed out are not valid any more, their strings are. */
void export_names_trim(struct export_names *names);

/* Frames, innermost first, until export_names_trim(). Returns how many; 0: none are known. */
size_t export_names_wait(struct export_names *names, const struct graph_wait *wait, const struct report_frame **frames);
size_t export_names_sample(struct export_names *names, uint32_t thread, const struct ev_sched_sample *e,
			   const struct report_frame **frames);
