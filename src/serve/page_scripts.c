/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page_scripts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/decoders.h"
#include "activity/script_language.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/table.h"
#include "lanes/lane_activities.h"
#include "serve/answer.h"
#include "view/json/json_parts.h"

enum {
	RUNS_MAX = 4, /* each may use the memory of a script */
	NAME_BYTES = 64,
	READER_BYTES = 40,
	ID_BYTES = 17,
	PAGE_SCRIPT_WORD_BYTES = 256,
	STATUS_BAD_REQUEST = 400,
	STATUS_NOT_FOUND = 404,
	STATUS_INTERNAL = 500,
};

static const uint64_t reading_ns = 50000000; /* for each request */
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* A script as it is run. */
struct run {
	char id[ID_BYTES]; /* by reader, name and text: a server that was started again has the same */
	char reader[READER_BYTES], name[NAME_BYTES];
	char *bytes;
	struct script_text text;
	struct lane_activities *activities; /* NULL: there is none */
	uint64_t used;
};

struct page_scripts {
	struct lane_activities_options options;
	const struct lanes *lanes;
	uint64_t first_ns;
	uint64_t uses;
	struct run runs[RUNS_MAX];
};

struct page_scripts *page_scripts_new(const struct lane_activities_options *options, const struct lanes *lanes,
				      uint64_t first_ns)
{
	struct page_scripts *scripts = xcalloc(1, sizeof(*scripts));

	scripts->options = *options;
	scripts->lanes = lanes;
	scripts->first_ns = first_ns;
	return scripts;
}

static void forget(struct run *run)
{
	lane_activities_close(run->activities);
	free(run->bytes);
	*run = (struct run){ 0 };
}

void page_scripts_free(struct page_scripts *scripts)
{
	if (!scripts)
		return;
	for (size_t i = 0; i < RUNS_MAX; i++)
		forget(&scripts->runs[i]);
	free(scripts);
}

void page_scripts_grow(struct page_scripts *scripts)
{
	for (size_t i = 0; i < RUNS_MAX; i++)
		if (scripts->runs[i].activities)
			lane_activities_grow(scripts->runs[i].activities);
}

/* --- Those that there are ------------------------------------------------------------------------ */

static struct run *find(struct page_scripts *scripts, const char *id)
{
	for (size_t i = 0; i < RUNS_MAX; i++)
		if (scripts->runs[i].activities && !strcmp(scripts->runs[i].id, id)) {
			scripts->runs[i].used = ++scripts->uses;
			return &scripts->runs[i];
		}
	return NULL;
}

/* The reader's own one, or else the one that nobody has asked for the longest. */
static struct run *place_for(struct page_scripts *scripts, const char *reader)
{
	struct run *oldest = &scripts->runs[0];

	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (!strcmp(scripts->runs[i].reader, reader))
			return &scripts->runs[i];
		if (scripts->runs[i].used < oldest->used)
			oldest = &scripts->runs[i];
	}
	return oldest;
}

static struct run *named(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	char id[ID_BYTES];
	struct run *run = request_text(request, "script", id, sizeof(id)) ? find(scripts, id) : NULL;

	if (!run)
		reply_fail(reply, STATUS_NOT_FOUND, "the server does not have this script any more: run it again");
	return run;
}

bool page_scripts_find(struct page_scripts *scripts, const struct request *request, struct reply *reply,
		       struct page_script *out)
{
	char word[PAGE_SCRIPT_WORD_BYTES];
	struct run *run;

	*out = (struct page_script){ 0 };
	if (!request_text(request, "script", word, sizeof(word)))
		return true;
	run = named(scripts, request, reply);
	if (!run)
		return false;
	*out = (struct page_script){ &run->text, run->activities };
	return true;
}

/* --- Answers ------------------------------------------------------------------------------------- */

static void put_notes(struct json *json, const struct decoders *decoders)
{
	struct text note = { 0 };

	json_key(json, "notes");
	json_begin_array(json);
	for (size_t i = 0; decoders_put_note(decoders, i, &note); i++) {
		json_string(json, note.bytes);
		note.length = 0;
	}
	json_end_array(json);
	text_fini(&note);
}

static void put(const struct page_scripts *scripts, const struct run *run, struct text *out)
{
	const struct decoders *decoders = lane_activities_decoders(run->activities);
	uint64_t until_ns;
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_string(&json, "id", run->id);
	json_put_string(&json, "name", run->name);
	json_key(&json, "is_complete");
	json_bool(&json, lane_activities_is_complete(run->activities, &until_ns));
	json_key(&json, "until_ns");
	json_int(&json, until_ns > scripts->first_ns ? (int64_t)(until_ns - scripts->first_ns) : 0);
	json_key(&json, "has_failed");
	json_bool(&json, decoders_failed_scripts(decoders));
	json_key(&json, "has_filter");
	json_bool(&json, decoders_has_script_filters(decoders));
	json_put_uint(&json, "activities", lane_activities_count_of(run->activities, run->name));
	put_notes(&json, decoders);
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

static void take_text(struct run *run, const struct request *request)
{
	run->bytes = xcalloc(1, request->body_bytes + 1);
	if (request->body_bytes)
		memcpy(run->bytes, request->body, request->body_bytes);
	run->text = (struct script_text){ run->name, run->bytes, request->body_bytes };
	snprintf(run->id, sizeof(run->id), "%016" PRIx64,
		 hash_string(hash_string(hash_string(1, run->reader), run->name), run->bytes));
}

void page_scripts_start(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct lane_activities_options options = scripts->options;
	char reader[READER_BYTES], name[NAME_BYTES];
	struct run *run;

	if (!request_text(request, "name", name, sizeof(name)) || !is_of(name, name_characters) || !has_suffix(name) ||
	    !request_text(request, "reader", reader, sizeof(reader)) || !is_of(reader, name_characters)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "a script needs a name of letters, digits, _, . and - that ends with .lua, and a reader");
		return;
	}
	if (request->body_bytes && memchr(request->body, '\0', request->body_bytes)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a script is text: this one has bytes that are 0");
		return;
	}
	run = place_for(scripts, reader);
	forget(run);
	memcpy(run->reader, reader, sizeof(reader));
	memcpy(run->name, name, sizeof(name));
	take_text(run, request);
	options.text = &run->text;
	if (lane_activities_open(&options, scripts->lanes, &run->activities)) {
		forget(run);
		reply_fail(reply, STATUS_INTERNAL, "the trace cannot be read");
		return;
	}
	run->used = ++scripts->uses;
	put(scripts, run, &reply->body);
}

void page_scripts_answer(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct run *run = named(scripts, request, reply);

	if (!run)
		return;
	lane_activities_step(run->activities, reading_ns);
	put(scripts, run, &reply->body);
}

void page_scripts_stop(struct page_scripts *scripts, const struct request *request, struct reply *reply)
{
	struct run *run = named(scripts, request, reply);

	if (!run)
		return;
	lane_activities_stop(run->activities);
	put(scripts, run, &reply->body);
}
