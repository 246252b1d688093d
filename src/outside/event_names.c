/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outside/event_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "area/area.h"
#include "base/memory.h"
#include "base/text.h"
#include "session/event_kinds.h"
#include "trace/trace_schema.h"

struct event_names {
	struct trace_schema *schemas[AREA_SCHEMA_TEXTS_MAX];
	size_t count;
};

struct event_names *event_names_new(void)
{
	return xcalloc(1, sizeof(struct event_names));
}

void event_names_free(struct event_names *names)
{
	size_t i;

	for (i = 0; names && i < names->count; i++)
		trace_schema_free(names->schemas[i]);
	free(names);
}

void event_names_take(struct event_names *names, const char *text, size_t length)
{
	struct trace_schema *schema = NULL;

	if (names->count < AREA_SCHEMA_TEXTS_MAX)
		schema = trace_schema_parse_plecoc(text, length);
	if (schema)
		names->schemas[names->count++] = schema;
}

const char *event_names_subsystem(const struct event_names *names, uint32_t subsystem)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i < names->count && !name; i++)
		name = trace_schema_subsystem(names->schemas[i], subsystem);
	return name;
}

const struct event_kind *event_names_kind(const struct event_names *names, uint32_t subsystem, uint32_t event,
					  size_t size_bytes)
{
	const struct event_kind *kind = NULL;
	size_t i;

	for (i = 0; i < names->count && !kind; i++)
		kind = trace_schema_find(names->schemas[i], subsystem, event, size_bytes);
	return kind;
}

/* --- By name ----------------------------------------------------------------------------- */

static bool is_word(const char *name, const char *word, size_t length)
{
	return name && strlen(name) == length && !memcmp(name, word, length);
}

/* Subsystems and events have numbers below 65535. */
static bool take_number(const char *word, size_t length, uint32_t *number)
{
	size_t i;

	*number = 0;
	for (i = 0; i < length && word[i] >= '0' && word[i] <= '9' && *number < 65535; i++)
		*number = 10 * *number + (uint32_t)(word[i] - '0');
	return length && i == length && *number < 65535;
}

bool event_names_find(const struct event_names *names, const char *word, size_t length, uint32_t *subsystem)
{
	uint32_t number;

	for (number = 0; number < 65535 && names->count; number++)
		if (is_word(event_names_subsystem(names, number), word, length)) {
			*subsystem = number;
			return true;
		}
	return take_number(word, length, subsystem);
}

static bool find_event(const struct event_names *names, uint32_t subsystem, const char *word, uint32_t *event)
{
	const struct event_kind *kind;
	unsigned int in, number;
	size_t i, cursor;

	for (i = 0; i < names->count; i++)
		for (cursor = 0; (kind = trace_schema_next(names->schemas[i], &cursor, &in, &number));)
			if (in == subsystem && !strcmp(kind->event, word)) {
				*event = number;
				return true;
			}
	return take_number(word, strlen(word), event);
}

bool event_names_find_event(const struct event_names *names, const char *word, uint32_t *key)
{
	const char *dot = strchr(word, '.');
	uint32_t subsystem, event;

	if (!dot || !event_names_find(names, word, dot - word, &subsystem) ||
	    !find_event(names, subsystem, dot + 1, &event))
		return false;
	*key = subsystem | event << 16;
	return true;
}

/* --- As text ----------------------------------------------------------------------------- */

void event_names_put(const struct event_names *names, uint32_t key, struct text *out)
{
	uint32_t subsystem = key & 0xffff, event = key >> 16;
	const struct event_kind *kind = event_names_kind(names, subsystem, event, SIZE_MAX);
	const char *name = event_names_subsystem(names, subsystem);

	if (name)
		text_put(out, name);
	else
		text_printf(out, "%" PRIu32, subsystem);
	if (kind)
		text_printf(out, ".%s", kind->event);
	else
		text_printf(out, ".%" PRIu32, event);
}

void event_names_put_subsystems(const struct event_names *names, struct text *out)
{
	const char *name, *separator = "";
	uint32_t number;

	for (number = 0; number < 65535; number++) {
		name = event_names_subsystem(names, number);
		if (name) {
			text_printf(out, "%s%s", separator, name);
			separator = ", ";
		}
	}
	if (!*separator)
		text_put(out, "none");
}

void event_names_put_events(const struct event_names *names, uint32_t subsystem, struct text *out)
{
	const char *separator = "";
	const struct event_kind *kind;
	unsigned int in, number;
	size_t i, cursor;

	for (i = 0; i < names->count; i++)
		for (cursor = 0; (kind = trace_schema_next(names->schemas[i], &cursor, &in, &number));)
			if (in == subsystem) {
				text_printf(out, "%s%s", separator, kind->event);
				separator = ", ";
			}
	if (!*separator)
		text_put(out, "none");
}
