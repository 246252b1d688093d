/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "own/own_span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "own/own_events.h"
#include "session/event_kinds.h"

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool own_span_is_meant(const char *text)
{
	const char *dots = strstr(text, ".."), *colon = strchr(text, ':');

	return dots && colon && colon < dots && !memchr(text, '/', dots - text);
}

static bool is_name(const char *text)
{
	return *text && strspn(text, name_letters) == strlen(text);
}

/* "request:BEGIN"; of the second event the subsystem may be missing. */
static int parse_side(char *text, enum own_span_role role, struct own_span *out, struct text *why)
{
	char *colon = strchr(text, ':');

	if (colon)
		*colon = '\0';
	if ((colon && !is_name(text)) || !is_name(colon ? colon + 1 : text) || (!colon && role == OWN_SPAN_BEGINS)) {
		text_put(why, "two events of a program's own are SUBSYSTEM:EVENT..EVENT, such as "
			      "request:BEGIN..END[key=argument]");
		return -EINVAL;
	}
	out->events[role] = xstrdup(colon ? colon + 1 : text);
	out->subsystems[role] = xstrdup(colon ? text : out->subsystems[OWN_SPAN_BEGINS]);
	return 0;
}

/* "[key=argument]" at the end goes. */
static int parse_key(char *text, struct own_span *out, struct text *why)
{
	char *open = strchr(text, '['), *end;

	if (!open)
		return 0;
	*open++ = '\0';
	end = strchr(open, ']');
	if (end && !end[1])
		*end = '\0';
	else
		end = NULL;
	if (!end || strncmp(open, "key=", 4) || !is_name(open + 4)) {
		text_put(why, "what says which end belongs to which beginning is given as [key=FIELD], such as "
			      "[key=argument]");
		return -EINVAL;
	}
	out->key = xstrdup(open + 4);
	return 0;
}

int own_span_parse(const char *text, struct own_span *out, struct text *why)
{
	char *copy = xstrdup(text), *dots = strstr(copy, "..");
	int err;

	*out = (struct own_span){ .key = NULL };
	err = parse_key(copy, out, why);
	if (!err && dots)
		*dots = '\0';
	if (!err)
		err = parse_side(copy, OWN_SPAN_BEGINS, out, why);
	if (!err)
		err = parse_side(dots ? dots + 2 : copy, OWN_SPAN_ENDS, out, why);
	free(copy);
	if (err)
		own_span_fini(out);
	return err;
}

void own_span_fini(struct own_span *span)
{
	for (int role = 0; role < OWN_SPAN_ROLES; role++) {
		free(span->subsystems[role]);
		free(span->events[role]);
	}
	free(span->key);
	*span = (struct own_span){ .key = NULL };
}

bool own_span_is(const struct own_span *span, enum own_span_role role, const struct own_event *event)
{
	return event->kind && !strcasecmp(event->kind->subsys, span->subsystems[role]) &&
	       !strcasecmp(event->kind->event, span->events[role]);
}

bool own_span_key(const struct own_span *span, const struct own_event *event, uint64_t *value)
{
	struct event_fields fields = event_fields_of(event->kind, event->stored, event->stored_bytes);
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	*value = event->argument;
	if (!strcasecmp(span->key, "argument"))
		return true;
	while (event_fields_next(&fields, &field, &bytes, &size_bytes)) {
		if (strcasecmp(field->name, span->key))
			continue;
		if (field->kind != FIELD_CHAR && !field->count && !field->is_flexible) {
			*value = event_field_number(field, bytes);
			return true;
		}
		*value = hash_u64(size_bytes);
		for (size_t i = 0; i < size_bytes && (field->kind != FIELD_CHAR || ((const char *)bytes)[i]); i++)
			*value = hash_u64(*value ^ ((const unsigned char *)bytes)[i]);
		return true;
	}
	return false;
}
