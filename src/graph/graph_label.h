/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nodes of a graph are called. Labels live until graph_labels_free(). */
#pragma once

#include "graph/graph.h"

struct activities;
struct files;
struct klocks;
struct fold_rules;
struct graph_labels;
struct hosts;
struct others;
struct path_names;
struct report_frame;
struct states;
struct symbols;
struct threads;

struct graph_names {
	struct threads *threads;
	const struct others *others;
	const struct hosts *hosts; /* NULL: all is of one */
	const struct files *files;
	const struct klocks *klocks; /* NULL: none are known */
	struct symbols *symbols;
	struct path_names *paths;
	const struct fold_rules *fold;
	const struct activities *activities;
};

struct graph_labels *graph_labels_new(const struct graph_names *names);
void graph_labels_free(struct graph_labels *labels);

/* From now on threads whose names differ in numbers only are called alike: "worker-*". */
void graph_labels_group(struct graph_labels *labels, bool is_grouping);

/*
 * From now on a place is called by its function and file alone, for lines differ between builds; and a file that is
 * waited for by its path without numbers, for tasks that are alike have different files.
 */
void graph_labels_omit_details(struct graph_labels *labels);

/*
 * From now on a wait whose call path was not recorded is where all waits for the same are of threads that are called
 * alike, if these are at one place. Threads must be called by then what they are to be.
 */
void graph_labels_learn_places(struct graph_labels *labels, struct states *states);

/* "lock cache.mutex_ in Cache::get() (cache.cpp:12)", "worker-1 (tid 4711)", "web1:worker-1 (tid 4711)", "disk". */
const char *graph_label(struct graph_labels *labels, const struct graph_node *node);

/* The same for nodes that are called alike: graph_options.key_of. data: the labels. */
uint64_t graph_label_key(void *data, const struct graph_node *node);

/* Waits with the same key are called alike. It is found at once, without a name. */
uint64_t graph_wait_key(const struct graph_wait *wait);

/* Of a wait: the name of what it is for; NULL: unknown. */
const char *graph_wait_object(struct graph_labels *labels, const struct graph_wait *wait);

/* The function of the program's own that a wait is called after; NULL: there is none, or it has no name. */
const char *graph_wait_function(struct graph_labels *labels, const struct graph_wait *wait);

/* The frames of a wait's stack, innermost first, as long as the labels live. Returns how many; 0: unknown. */
size_t graph_wait_frames(struct graph_labels *labels, const struct graph_wait *wait,
			 const struct report_frame **frames);

/* See path_names_drop(). */
bool graph_labels_drop_frames(struct graph_labels *labels, size_t bytes_max);

/* The frames of a sample of a running thread, as sched.SAMPLE has the last three. Returns how many; 0: unknown. */
size_t graph_sample_frames(struct graph_labels *labels, uint32_t thread, uint64_t time_ns, uint64_t stack, uint64_t ip,
			   uint64_t kernel_ip, const struct report_frame **frames);

/* The frame of the program's own code that a stack is called after; NULL: there is none. */
const struct report_frame *graph_own_frame(const struct graph_labels *labels, const struct report_frame *frames,
					   size_t count);

/* Whether the frame is of the program's own code, and none of a library's or the kernel's. */
bool graph_frame_is_own(const struct graph_labels *labels, const struct report_frame *frame);

/* Whether the name is that of the frame's function, with its arguments or without. */
bool graph_frame_is_called(const struct report_frame *frame, const char *name);

/* Whether a function is on the wait's stack, by its name with its arguments or without. */
bool graph_wait_is_in(struct graph_labels *labels, const struct graph_wait *wait, const char *function);
