/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/decode/scripts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/script_tables.h"
#include "activity/lua/lua_language.h"
#include "activity/named_event.h"
#include "activity/script_language.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/user_file.h"

enum {
	SCRIPT_BYTES_MAX = 1 << 20,
	PRINTED_LINES_MAX = 20, /* of a script */
	LINE_BYTES_MAX = 200,
	NOTES_MAX = (SCRIPTS_MAX + 1) * (PRINTED_LINES_MAX + 2),
};

static const struct script_language *const languages[] = { &lua_language };

struct script {
	struct scripts *all;
	const char *path;
	const struct script_language *language;
	struct script_host host;
	struct script_parts parts;
	void *state; /* NULL: it has failed */
	size_t printed_lines;
	bool makes_activity; /* which its own handler sees already */
};

struct scripts {
	struct script list[SCRIPTS_MAX + 1];
	size_t count, failed_count;
	bool have_filters;
	bool is_look; /* finish() makes no activities */
	struct activity_sink sink;
	const struct event_context *context;
	struct script_tables *tables;
	char *notes[NOTES_MAX];
	size_t note_count;
};

/* --- What scripts say ------------------------------------------------------------------------- */

static bool emit(void *data, const struct activity *activity)
{
	struct script *script = data;
	struct activity sourced = *activity;

	if (script->all->is_look || !script->state) /* it is being loaded */
		return false;
	sourced.source = script->path;
	script->makes_activity = true;
	script->all->sink.take(script->all->sink.data, &sourced);
	script->makes_activity = false;
	return true;
}

static void show(void *data, const struct script_table *table)
{
	const struct script *script = data;

	script_tables_add(script->all->tables, script->path, table);
}

static void add_note(struct scripts *scripts, const struct text *note)
{
	if (scripts->note_count < NOTES_MAX)
		scripts->notes[scripts->note_count++] = xstrdup(note->bytes);
}

static void print(void *data, const char *line, size_t line_bytes)
{
	struct script *script = data;
	struct text note = { 0 };

	if (script->printed_lines > PRINTED_LINES_MAX)
		return;
	text_printf(&note, "%s: ", script->path);
	if (script->printed_lines++ == PRINTED_LINES_MAX)
		text_printf(&note, "prints more than %d lines: further ones are left out", PRINTED_LINES_MAX);
	else
		text_put_bytes(&note, line, line_bytes < LINE_BYTES_MAX ? line_bytes : LINE_BYTES_MAX);
	add_note(script->all, &note);
	text_fini(&note);
}

/* Its message names script and line. */
static void disable(struct script *script, const struct text *why)
{
	struct text note = { 0 };

	script->language->close(script->state);
	script->state = NULL;
	script->all->failed_count++;
	text_printf(&note, "script error: %s; the script is disabled from there on%s", why->bytes,
		    script->parts.has_filter ? ", and its filter passes all events" : "");
	add_note(script->all, &note);
	text_fini(&note);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static const struct script_language *language_of(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++) {
		size_t suffix_length = strlen(languages[i]->suffix);

		if (length > suffix_length && !strcmp(path + length - suffix_length, languages[i]->suffix))
			return languages[i];
	}
	return NULL;
}

static int read_script(const char *path, struct text *script)
{
	char buffer[1 << 14];
	size_t got;
	FILE *file;
	int err = user_file_open(path, "the script", &file);

	if (err)
		return err;
	text_put(script, "");
	while ((got = fread(buffer, 1, sizeof(buffer), file)) && script->length <= SCRIPT_BYTES_MAX)
		text_put_bytes(script, buffer, got);
	if (ferror(file))
		err = fail(-EIO, "cannot read the script %s", path);
	else if (script->length > SCRIPT_BYTES_MAX)
		err = fail_plain(-EFBIG, "the script %s has more than %d MB", path, SCRIPT_BYTES_MAX >> 20);
	fclose(file);
	return err;
}

static struct script *add_script(struct scripts *scripts, const char *path)
{
	struct script *script = &scripts->list[scripts->count++];

	script->all = scripts;
	script->path = path;
	script->host = (struct script_host){
		.emit = emit, .print = print, .show = show, .data = script, .context = scripts->context
	};
	return script;
}

static int open_script(struct scripts *scripts, const char *path)
{
	struct script *script = add_script(scripts, path);
	struct text why = { 0 }, said = { 0 }, text = { 0 };
	int err;

	script->language = language_of(path);
	if (!script->language)
		return fail_plain(-EINVAL, "--script %s: scripts are written in Lua and have names that end with .lua",
				  path);
	err = read_script(path, &text);
	if (!err) {
		err = script->language->open(path, text.bytes, text.length, &script->host, &script->state,
					     &script->parts, &why);
		if (err) {
			text_put_escaped(&said, why.bytes);
			fail_plain(err, "script error: %s", said.bytes);
		}
	}
	scripts->have_filters |= script->parts.has_filter;
	text_fini(&text);
	text_fini(&said);
	text_fini(&why);
	return err;
}

/* Whoever has written it looks at the notes. */
static void open_text(struct scripts *scripts, const struct script_text *text)
{
	struct script *script = add_script(scripts, text->name);
	struct text why = { 0 }, note = { 0 };

	script->language = &lua_language;
	if (script->language->open(text->name, text->text, text->text_bytes, &script->host, &script->state,
				   &script->parts, &why)) {
		scripts->failed_count++;
		text_printf(&note, "script error: %s", why.bytes);
		add_note(scripts, &note);
	}
	scripts->have_filters |= script->parts.has_filter;
	text_fini(&why);
	text_fini(&note);
}

int scripts_open(const char *const *paths, size_t count, const struct script_text *text, struct activity_sink sink,
		 const struct event_context *context, struct scripts **out)
{
	struct scripts *scripts = xcalloc(1, sizeof(*scripts));
	int err = 0;

	scripts->sink = sink;
	scripts->context = context;
	scripts->tables = script_tables_new();
	for (size_t i = 0; i < count && i < SCRIPTS_MAX && !err; i++)
		err = open_script(scripts, paths[i]);
	if (err) {
		scripts_close(scripts);
		return err;
	}
	if (text)
		open_text(scripts, text);
	*out = scripts;
	return 0;
}

void scripts_close(struct scripts *scripts)
{
	if (!scripts)
		return;
	for (size_t i = 0; i < scripts->count; i++)
		if (scripts->list[i].state)
			scripts->list[i].language->close(scripts->list[i].state);
	for (size_t i = 0; i < scripts->note_count; i++)
		free(scripts->notes[i]);
	script_tables_free(scripts->tables);
	free(scripts);
}

/* --- Events ----------------------------------------------------------------------------------- */

static bool passes(struct script *script, const struct named_event *event)
{
	struct text why = { 0 };
	bool passes = true;

	if (!script->state || !script->parts.has_filter)
		return true;
	if (script->language->filter(script->state, event, &passes, &why)) {
		disable(script, &why);
		passes = true;
	}
	text_fini(&why);
	return passes;
}

bool scripts_pass(struct scripts *scripts, const struct named_event *event)
{
	for (size_t i = 0; i < scripts->count; i++)
		if (!passes(&scripts->list[i], event))
			return false;
	return true;
}

static bool wants(const struct script *script, const struct named_event *event)
{
	if (!script->state || !script->parts.has_decoder)
		return false;
	for (size_t i = 0; i < script->parts.event_count; i++)
		if (named_event_is(event, script->parts.events[i]))
			return true;
	return !script->parts.event_count;
}

void scripts_on_event(struct scripts *scripts, const struct named_event *event)
{
	for (size_t i = 0; i < scripts->count; i++) {
		struct script *script = &scripts->list[i];
		struct text why = { 0 };

		if (wants(script, event) && script->language->on_event(script->state, event, &why))
			disable(script, &why);
		text_fini(&why);
	}
}

void scripts_on_activity(struct scripts *scripts, const struct activity *activity)
{
	for (size_t i = 0; i < scripts->count; i++) {
		struct script *script = &scripts->list[i];
		struct text why = { 0 };

		if (script->state && script->parts.has_activity_handler && !script->makes_activity &&
		    script->language->on_activity(script->state, activity, &why))
			disable(script, &why);
		text_fini(&why);
	}
}

void scripts_finish(struct scripts *scripts)
{
	script_tables_clear(scripts->tables);
	for (size_t i = 0; i < scripts->count; i++) {
		struct script *script = &scripts->list[i];
		struct text why = { 0 };

		if (script->state && script->parts.has_finish && script->language->finish(script->state, &why))
			disable(script, &why);
		text_fini(&why);
	}
}

void scripts_look(struct scripts *scripts)
{
	scripts->is_look = true;
	scripts_finish(scripts);
	scripts->is_look = false;
}

const struct script_tables *scripts_tables(const struct scripts *scripts)
{
	return scripts->tables;
}

bool scripts_have_filters(const struct scripts *scripts)
{
	return scripts->have_filters;
}

size_t scripts_failed(const struct scripts *scripts)
{
	return scripts->failed_count;
}

const char *scripts_note(const struct scripts *scripts, size_t i)
{
	return i < scripts->note_count ? scripts->notes[i] : NULL;
}
