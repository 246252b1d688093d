/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

enum { LINE_BYTES = 4096 };

static const char *scenario;
static int line_number;

void scenario_stop(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", scenario, line_number);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* --- Keys ------------------------------------------------------------------------------------ */

void keys_parse(struct keys *keys)
{
	char *word;

	keys->count = 0;
	while ((word = strtok(NULL, " \t\n"))) {
		char *equals = strchr(word, '=');

		if (*word == '#')
			break;
		if (!equals || keys->count == SCENARIO_KEYS_MAX)
			scenario_stop("'%s' is no key=value", word);
		*equals = '\0';
		keys->list[keys->count].key = word;
		keys->list[keys->count].value = equals + 1;
		keys->list[keys->count++].is_used = false;
	}
}

const char *key_text(struct keys *keys, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (strcmp(keys->list[i].key, key))
			continue;
		keys->list[i].is_used = true;
		return keys->list[i].value;
	}
	return otherwise;
}

uint64_t scenario_number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*end || end == text)
		scenario_stop("'%s' is no number", text);
	return value;
}

uint32_t scenario_thread(const char *text)
{
	return *text == 'o' ? THREAD_EXTERNAL | scenario_number(text + 1) : scenario_number(text);
}

uint64_t key_number(struct keys *keys, const char *key, uint64_t otherwise)
{
	const char *text = key_text(keys, key, NULL);

	return text ? scenario_number(text) : otherwise;
}

uint32_t key_thread(struct keys *keys, const char *key)
{
	return scenario_thread(key_text(keys, key, "0"));
}

unsigned int key_word(struct keys *keys, const char *key, const char *const *words, unsigned int otherwise)
{
	const char *text = key_text(keys, key, NULL);

	if (!text)
		return otherwise;
	for (unsigned int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return scenario_number(text);
}

void keys_end(const struct keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!keys->list[i].is_used)
			scenario_stop("unknown key '%s'", keys->list[i].key);
}

/* --- Lines ----------------------------------------------------------------------------------- */

const char *scenario_word(const char *meaning)
{
	const char *word = strtok(NULL, " \t\n");

	if (!word)
		scenario_stop("%s is missing", meaning);
	return word;
}

void scenario_read_event(const char *ns, struct scenario_event *out)
{
	const struct scenario_kind *kind = scenario_kinds;
	const char *thread, *name;
	struct keys keys;

	*out = (struct scenario_event){ .size_bytes = 0 };
	thread = scenario_word("the thread");
	name = scenario_word("the event");
	keys_parse(&keys);
	while (kind->name && strcmp(kind->name, name) != 0)
		kind++;
	if (!kind->name)
		scenario_stop("unknown event '%s'", name);
	out->event.header.time_ns = scenario_number(ns);
	out->event.header.thread = scenario_thread(thread);
	out->event.header.subsys = kind->id >> 16;
	out->event.header.event = kind->id & 0xffff;
	out->size_bytes = kind->fill(&out->event, &keys);
	out->size_bytes = key_number(&keys, "size", out->size_bytes);
	out->stream = key_number(&keys, "stream", key_number(&keys, "cpu", 0) % SCENARIO_STREAMS);
	keys_end(&keys);
	if (out->stream >= SCENARIO_STREAMS || out->size_bytes > sizeof(out->event))
		scenario_stop("stream or size out of range");
}

void scenario_read(const char *path, void (*on_word)(void *data, const char *word), void *data)
{
	char line[LINE_BYTES];
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		exit(2);
	}
	scenario = path;
	while (fgets(line, sizeof(line), file)) {
		const char *word = strtok(line, " \t\n");

		line_number++;
		if (word && *word != '#')
			on_word(data, word);
	}
	fclose(file);
}
