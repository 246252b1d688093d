/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts that readers of the page have sent. Each is run over the trace, step by step, as long as its reader asks for it; what it finds are
 * activities, and its filter chooses events. A reader has one at a time: the next one takes its place. They are forgotten with the server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lanes/lane_activities.h"

struct lanes;
struct page_scripts;
struct reply;
struct request;
struct script_text;
struct trace_states;
struct turn;

/* All that it points to is borrowed. */
struct page_scripts_options {
	struct lane_activities_options activities; /* how they are found without these scripts */
	const struct lanes *lanes;
	const struct trace_states *states;
	uint64_t first_ns; /* when the trace begins */
	struct turn *turn; /* scripts run away from it */
};

struct page_scripts *page_scripts_new(const struct page_scripts_options *options);
void page_scripts_free(struct page_scripts *scripts);

/* The trace has grown. */
void page_scripts_grow(struct page_scripts *scripts);

/* Takes the script that is the body; it runs when it is asked for. name: a file name that ends with .lua; reader: who sends it, letters and digits. Answers as below. */
void page_scripts_start(struct page_scripts *scripts, const struct request *request, struct reply *reply);

/* How far the script with the id "script" is, what it has found and said. Goes on with it for a moment. */
void page_scripts_answer(struct page_scripts *scripts, const struct request *request, struct reply *reply);

/* It reads no more of the trace; answers as above. */
void page_scripts_stop(struct page_scripts *scripts, const struct request *request, struct reply *reply);

/*
 * Statistics of the script with the id "script": of all events, or of those that filters choose, as asked_filter_read() has them. Goes on
 * with it for a moment: they are there when it is complete. Of a trace that grows, they are of what it has by then.
 */
void page_scripts_answer_statistics(struct page_scripts *scripts, const struct request *request, struct reply *reply);

struct page_script {
	const struct script_text *text;
	struct lane_activities *activities;
};

/* The script that a request names by "script", until the next one is started; NULLs: it names none. False: the reply says that it is gone. */
bool page_scripts_find(struct page_scripts *scripts, const struct request *request, struct reply *reply,
		       struct page_script *out);
