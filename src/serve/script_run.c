/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/script_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/decoders.h"
#include "activity/decode/script_tables.h"
#include "activity/script_table.h"
#include "activity/script_table_json.h"
#include "base/json.h"
#include "base/memory.h"
#include "lanes/lane_activities.h"
#include "serve/turn.h"
#include "view/json/json_parts.h"

static const uint64_t reading_ns = 50000000; /* for each request */

static void take_text(struct script_run *run, const struct script_text *text)
{
	char *bytes = xcalloc(1, text->text_bytes + 1);

	if (text->text_bytes)
		memcpy(bytes, text->text, text->text_bytes);
	snprintf(run->name, sizeof(run->name), "%s", text->name);
	run->text = (struct script_text){ run->name, bytes, text->text_bytes };
}

static void close_run(struct script_run *run)
{
	lane_activities_close(run->activities);
	if (run->asked.arena)
		asked_filter_fini(&run->asked);
	free((char *)run->text.text);
	free(run);
}

struct script_run *script_run_open(const struct lane_activities_options *options, const struct lanes *lanes,
				   const struct script_text *text, struct asked_filter *asked)
{
	struct script_run *run = xcalloc(1, sizeof(*run));
	struct lane_activities_options running = *options;

	take_text(run, text);
	running.text = &run->text;
	if (asked) {
		run->asked = *asked;
		*asked = (struct asked_filter){ 0 };
		running.filter = &run->asked.filter;
	}
	if (lane_activities_open(&running, lanes, &run->activities)) {
		close_run(run);
		return NULL;
	}
	return run;
}

void script_run_forget(struct script_run *run)
{
	if (!run)
		return;
	if (lane_activities_is_busy(run->activities))
		run->is_forgotten = true;
	else
		close_run(run);
}

bool script_run_step(struct script_run *run, struct turn *turn)
{
	bool is_forgotten;

	if (turn_is_full(turn))
		return true;
	lane_activities_begin(run->activities);
	turn_leave(turn);
	lane_activities_run(run->activities, reading_ns);
	turn_return(turn);
	lane_activities_end(run->activities);
	is_forgotten = run->is_forgotten;
	if (is_forgotten)
		close_run(run);
	return !is_forgotten;
}

bool script_run_has_no_trace(const struct script_run *run)
{
	uint64_t until_ns;

	return !lane_activities_decoders(run->activities) && lane_activities_is_complete(run->activities, &until_ns);
}

/* --- What is said of it -------------------------------------------------------------------------- */

/* decoders: NULL: it has not been loaded. */
static void put_notes(struct json *json, const struct decoders *decoders)
{
	struct text note = { 0 };

	json_key(json, "notes");
	json_begin_array(json);
	for (size_t i = 0; decoders && decoders_put_note(decoders, i, &note); i++) {
		json_string(json, note.bytes);
		note.length = 0;
	}
	json_end_array(json);
	text_fini(&note);
}

void script_run_put_state(const struct script_run *run, uint64_t first_ns, struct json *json)
{
	const struct decoders *decoders = lane_activities_decoders(run->activities);
	uint64_t until_ns;

	json_key(json, "is_complete");
	json_bool(json, lane_activities_is_complete(run->activities, &until_ns));
	json_key(json, "until_ns");
	json_int(json, until_ns > first_ns ? (int64_t)(until_ns - first_ns) : 0);
	json_key(json, "has_failed");
	json_bool(json, decoders && decoders_failed_scripts(decoders));
	json_key(json, "has_filter");
	json_bool(json, decoders && decoders_has_script_filters(decoders));
	put_notes(json, decoders);
}

static const struct script_table *table_of(const struct script_run *run, size_t i)
{
	const struct decoders *decoders = lane_activities_decoders(run->activities);

	return decoders ? script_tables_get(decoders_tables(decoders), i) : NULL;
}

/* Of the reader's script alone: those of the command line have statistics in pinch dump. */
static bool is_own(const struct script_run *run, const struct script_table *table)
{
	return !strcmp(table->script, run->name);
}

void script_run_put_tables(const struct script_run *run, struct json *json)
{
	const struct script_table *table;

	json_key(json, "tables");
	json_begin_array(json);
	for (size_t i = 0; (table = table_of(run, i)); i++)
		if (is_own(run, table))
			script_table_put_json(json, table);
	json_end_array(json);
}

size_t script_run_tables(const struct script_run *run)
{
	const struct script_table *table;
	size_t count = 0;

	for (size_t i = 0; (table = table_of(run, i)); i++)
		count += is_own(run, table);
	return count;
}
