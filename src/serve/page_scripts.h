/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts that readers of the page have sent. Each is run over the trace, step by step, as long as its reader asks for it; what it finds are
 * activities, and its filter chooses events. A reader has one at a time: the next one takes its place. They are forgotten with the server.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lane_activities;
struct lane_activities_options;
struct lanes;
struct page_scripts;
struct reply;
struct request;
struct script_text;

/* options: how activities are found without these scripts; its strings and lanes are borrowed. first_ns: when the trace begins. */
struct page_scripts *page_scripts_new(const struct lane_activities_options *options, const struct lanes *lanes,
				      uint64_t first_ns);
void page_scripts_free(struct page_scripts *scripts);

/* The trace has grown. */
void page_scripts_grow(struct page_scripts *scripts);

/* Takes the script that is the body. name: a file name that ends with .lua; reader: who sends it, letters and digits. Answers as below. */
void page_scripts_start(struct page_scripts *scripts, const struct request *request, struct reply *reply);

/* How far the script with the id "script" is, what it has found and said. Goes on with it for a moment. */
void page_scripts_answer(struct page_scripts *scripts, const struct request *request, struct reply *reply);

/* It reads no more of the trace. */
void page_scripts_stop(struct page_scripts *scripts, const struct request *request, struct reply *reply);

struct page_script {
	const struct script_text *text;
	struct lane_activities *activities;
};

/* The script that a request names by "script", until the next one is started; NULLs: it names none. False: the reply says that it is gone. */
bool page_scripts_find(struct page_scripts *scripts, const struct request *request, struct reply *reply,
		       struct page_script *out);
