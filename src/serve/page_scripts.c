/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "lanes/lane_activities.h"
#include "serve/answer.h"
#include "serve/script_run.h"
#include "serve/turn.h"
#include "view/json/json_parts.h"

enum {
	RUNS_MAX = 4, /* each may use the memory of a script, and once more of a part of the events */
	READER_BYTES = 40,
	ID_BYTES = 17,
	PAGE_SCRIPT_WORD_BYTES = 256,
	STATUS_OK = 200,
	STATUS_BAD_REQUEST = 400,
	STATUS_NOT_FOUND = 404,
	STATUS_INTERNAL = 500,
	STATUS_UNAVAILABLE = 503,
};

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* What a reader has sent. */
struct sent {
	char id[ID_BYTES]; /* by reader, name and text: a server that was started again has the same */
	char reader[READER_BYTES];
	struct script_run *run;  /* over all events; NULL: there is none */
	struct script_run *part; /* over those that a filter chooses; NULL: nobody has asked */
	uint64_t used;
};

struct page_scripts {
	struct page_scripts_options options;
	uint64_t uses;
	struct sent list[RUNS_MAX];
};

struct page_scripts *page_scripts_new(const struct page_scripts_options *options)
{
	struct page_scripts *scripts = xcalloc(1, sizeof(*scripts));

	scripts->options = *options;
	return scripts;
}

static void forget(struct sent *sent)
{
	script_run_forget(sent->run);
	script_run_forget(sent->part);
	*sent = (struct sent){ 0 };
}

void page_scripts_free(struct page_scripts *scripts)
{
	if (!scripts)
		return;
	for (size_t i = 0; i < RUNS_MAX; i++)
		forget(&scripts->list[i]);
	free(scripts);
}

void page_scripts_grow(struct page_scripts *scripts)
{
	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (scripts->list[i].run)
			lane_activities_grow(scripts->list[i].run->activities);
		if (scripts->list[i].part)
			lane_activities_grow(scripts->list[i].part->activities);
	}
}

/* --- Those that there are ------------------------------------------------------------------------ */

static struct sent *find(struct page_scripts *scripts, const char *id)
{
	for (size_t i = 0; i < RUNS_MAX; i++)
		if (scripts->list[i].run && !strcmp(scripts->list[i].id, id)) {
			scripts->list[i].used = ++scripts->uses;
			return &scripts->list[i];
		}
	return NULL;
}

/* The reader's own one, or else the one that nobody has asked for the longest. */
static struct sent *place_for(struct page_scripts *scripts, const char *reader)
{
	struct sent *oldest = &scripts->list[0];

	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (!strcmp(scripts->list[i].reader, reader))
			return &scripts->list[i];
		if (scripts->list[i].used < oldest->used)
			oldest = &scripts->list[i];
	}
	return oldest;
}

static void say_gone(struct reply *reply)
{
	reply_fail(reply, STATUS_NOT_FOUND, "the server does not have this script any more: run it again");
}

static struct sent *named(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	char id[ID_BYTES];
	struct sent *sent = request_text(request, "script", id, sizeof(id)) ? find(scripts, id) : NULL;

	if (!sent)
		say_gone(reply);
	return sent;
}

bool page_scripts_find(struct page_scripts *scripts, const struct request *request, struct reply *reply,
		       struct page_script *out)
{
	char word[PAGE_SCRIPT_WORD_BYTES];
	struct sent *sent;

	*out = (struct page_script){ 0 };
	if (!request_text(request, "script", word, sizeof(word)))
		return true;
	sent = named(scripts, request, reply);
	if (!sent)
		return false;
	*out = (struct page_script){ &sent->run->text, sent->run->activities };
	return true;
}

/* --- Running them -------------------------------------------------------------------------------- */

/*
 * The run that a request is about, over the events that asked chooses, NULL: all; a new one takes asked. NULL: the reply says why there is
 * none.
 */
static struct script_run *run_of(struct page_scripts *scripts, const struct request *request,
				 struct asked_filter *asked, struct reply *reply)
{
	const struct page_scripts_options *options = &scripts->options;
	struct sent *sent = named(scripts, request, reply);

	if (!sent || !asked)
		return sent ? sent->run : NULL;
	if (sent->part && !strcmp(sent->part->asked.key.bytes, asked->key.bytes))
		return sent->part;
	script_run_forget(sent->part);
	sent->part = NULL;
	if (asked_filter_find_threads(asked, options->states, options->activities.trace_path))
		reply_fail(reply, STATUS_BAD_REQUEST, "a thread that the filter names is not in the trace");
	else
		sent->part = script_run_open(&options->activities, options->lanes, &sent->run->text, asked);
	if (!sent->part && reply->status == STATUS_OK)
		reply_fail(reply, STATUS_INTERNAL, "the trace cannot be read");
	return sent->part;
}

/* The same as soon as nobody is busy with it. */
static struct script_run *idle_run(struct page_scripts *scripts, const struct request *request,
				   struct asked_filter *asked, struct reply *reply)
{
	struct script_run *run = run_of(scripts, request, asked, reply);

	while (run && lane_activities_is_busy(run->activities)) {
		if (turn_is_full(scripts->options.turn)) {
			reply_fail(reply, STATUS_UNAVAILABLE, "too many scripts are run at the moment: ask again");
			return NULL;
		}
		turn_wait(scripts->options.turn);
		run = run_of(scripts, request, asked, reply);
	}
	return run;
}

/* Goes on with it. False: the reply says what is wrong. */
static bool step(struct page_scripts *scripts, struct script_run *run, struct reply *reply)
{
	if (!script_run_step(run, scripts->options.turn)) {
		say_gone(reply);
		return false;
	}
	if (script_run_has_no_trace(run)) {
		reply_fail(reply, STATUS_INTERNAL, "the trace cannot be read");
		return false;
	}
	return true;
}

/* --- Answers ------------------------------------------------------------------------------------- */

static void put(const struct page_scripts *scripts, const struct sent *sent, struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_string(&json, "id", sent->id);
	json_put_string(&json, "name", sent->run->name);
	script_run_put_state(sent->run, scripts->options.first_ns, &json);
	json_put_uint(&json, "activities", lane_activities_count_of(sent->run->activities, sent->run->name));
	json_put_uint(&json, "tables", script_run_tables(sent->run));
	json_end_object(&json);
	json_fini(&json);
}

static bool is_of(const char *word, const char *characters)
{
	return word[0] && !word[strspn(word, characters)];
}

static bool has_suffix(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".lua");
}

/* What a POST brings, which has no byte that is 0. */
static void take_sent(struct page_scripts *scripts, const struct request *request, const char *reader, const char *name,
		      struct reply *reply)
{
	const struct page_scripts_options *options = &scripts->options;
	struct sent *sent = place_for(scripts, reader);
	struct script_text text = { name, request->body, request->body_bytes };

	forget(sent);
	sent->run = script_run_open(&options->activities, options->lanes, &text, NULL);
	if (!sent->run) {
		reply_fail(reply, STATUS_INTERNAL, "the trace cannot be read");
		return;
	}
	snprintf(sent->reader, sizeof(sent->reader), "%s", reader);
	snprintf(sent->id, sizeof(sent->id), "%016" PRIx64,
		 hash_string(hash_string(hash_string(1, reader), name), sent->run->text.text));
	sent->used = ++scripts->uses;
	put(scripts, sent, &reply->body);
}

void page_scripts_start(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	char reader[READER_BYTES], name[SCRIPT_NAME_BYTES];

	if (!request_text(request, "name", name, sizeof(name)) || !is_of(name, name_characters) || !has_suffix(name) ||
	    !request_text(request, "reader", reader, sizeof(reader)) || !is_of(reader, name_characters))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "a script needs a name of letters, digits, _, . and - that ends with .lua, and a reader");
	else if (request->body_bytes && memchr(request->body, '\0', request->body_bytes))
		reply_fail(reply, STATUS_BAD_REQUEST, "a script is text: this one has bytes that are 0");
	else
		take_sent(scripts, request, reader, name, reply);
}

/* Goes on with the script of the request, and answers. */
static void go_on(struct page_scripts *scripts, const struct request *request, struct script_run *run,
		  struct reply *reply)
{
	struct sent *sent;

	if (!step(scripts, run, reply))
		return;
	sent = named(scripts, request, reply);
	if (sent)
		put(scripts, sent, &reply->body);
}

void page_scripts_answer(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct script_run *run = idle_run(scripts, request, NULL, reply);

	if (run)
		go_on(scripts, request, run, reply);
}

void page_scripts_stop(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct script_run *run = idle_run(scripts, request, NULL, reply);

	if (!run)
		return;
	lane_activities_stop(run->activities);
	go_on(scripts, request, run, reply);
}

/* --- Statistics ---------------------------------------------------------------------------------- */

static void put_statistics(const struct page_scripts *scripts, const struct script_run *run, struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	script_run_put_state(run, scripts->options.first_ns, &json);
	script_run_put_tables(run, &json);
	json_end_object(&json);
	json_fini(&json);
}

void page_scripts_answer_statistics(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct asked_filter asked;
	struct script_run *run;

	if (asked_filter_read(request, &asked)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a filter of events: a word cannot be one");
		asked_filter_fini(&asked);
		return;
	}
	run = idle_run(scripts, request, asked_filter_is_set(&asked) ? &asked : NULL, reply);
	if (run && step(scripts, run, reply))
		put_statistics(scripts, run, &reply->body);
	asked_filter_fini(&asked);
}
