/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spans/own_spans.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "own/own_events.h"
#include "own/own_span.h"

enum {
	OPEN_MAX = 1 << 20, /* of all spans */
	ROLES_MAX = 1 << 16,
	EXECUTIONS_MAX = 1 << 23,
};

/* What has begun and not ended. */
struct open_own {
	struct open_own *outer; /* of the same thread and span, began before */
	uint64_t begin_ns;
	uint32_t span, thread, depth;
};

/* What a kind of event does: bit n of span n. */
struct own_roles {
	uint32_t bits[OWN_SPAN_ROLES];
};

struct own_spans {
	struct executions *all;
	struct span *spans;
	struct own_span list[SPANS_MAX];
	uint32_t added; /* bit n: list[n] is one */
	struct own_events *events;
	struct table *roles; /* struct own_roles, by schema, subsystem and event */
	struct table *open;  /* struct open_own, the innermost one, by span and key */
	size_t open_count;
};

struct own_spans *own_spans_new(struct executions *all, struct span *spans)
{
	struct own_spans *own = xcalloc(1, sizeof(*own));

	own->all = all;
	own->spans = spans;
	own->events = own_events_new();
	own->roles = table_new();
	own->open = table_new();
	return own;
}

static void free_all(struct table *table)
{
	void *value;
	size_t cursor = 0;

	while ((value = table_next(table, &cursor)))
		free(value);
	table_free(table);
}

void own_spans_free(struct own_spans *own)
{
	struct open_own *open, *outer;
	size_t cursor = 0;

	if (!own)
		return;
	while ((open = table_next(own->open, &cursor)))
		for (open = open->outer; open; open = outer) {
			outer = open->outer;
			free(open);
		}
	free_all(own->open);
	free_all(own->roles);
	own_events_free(own->events);
	for (uint32_t span = 0; span < SPANS_MAX; span++)
		own_span_fini(&own->list[span]);
	free(own);
}

void own_spans_add(struct own_spans *own, uint32_t number, const char *spec)
{
	struct text why = { 0 };

	if (number < SPANS_MAX && !(own->added >> number & 1) && !own_span_parse(spec, &own->list[number], &why))
		own->added |= 1u << number;
	text_fini(&why);
}

bool own_spans_are_wanted(const struct own_spans *own)
{
	return own->added;
}

/* --- What an event does -------------------------------------------------------------------- */

static void find_roles(const struct own_spans *own, const struct own_event *event, struct own_roles *roles)
{
	for (uint32_t span = 0; span < SPANS_MAX; span++)
		for (int role = 0; role < OWN_SPAN_ROLES && own->added >> span & 1; role++)
			if (own_span_is(&own->list[span], role, event))
				roles->bits[role] |= 1u << span;
}

/* NULL: nothing. *event is filled in otherwise. */
static const struct own_roles *roles_of(struct own_spans *own, const struct ev_user_event *e, struct own_event *event)
{
	uint64_t key = hash_u64(e->schema ^ hash_u64((uint64_t)e->subsystem << 16 | e->event));
	struct own_roles *roles = table_find(own->roles, key);

	if (roles && !roles->bits[OWN_SPAN_BEGINS] && !roles->bits[OWN_SPAN_ENDS])
		return NULL;
	own_events_find(own->events, e, event);
	if (!event->kind)
		return NULL;
	if (!roles && table_count(own->roles) < ROLES_MAX) {
		roles = xcalloc(1, sizeof(*roles));
		find_roles(own, event, roles);
		table_put(own->roles, key, roles);
	}
	return roles;
}

/* --- Beginnings and ends ------------------------------------------------------------------- */

/* What belongs together; false: the event does not say. */
static bool key_of(const struct own_spans *own, uint32_t span, const struct own_event *event, uint64_t *key)
{
	uint64_t value = event->stored->thread;

	if (own->list[span].key && !own_span_key(&own->list[span], event, &value))
		return false;
	*key = hash_u64(value ^ hash_u64(span + 1));
	return true;
}

static void begin(struct own_spans *own, uint32_t span, const struct own_event *event)
{
	struct open_own *open, *outer;
	uint64_t key;

	if (!key_of(own, span, event, &key))
		return;
	outer = table_find(own->open, key);
	if (outer && own->list[span].key) {
		own->spans[span].begun_anew++;
		outer->begin_ns = event->stored->time_ns;
		outer->thread = event->stored->thread;
		return;
	}
	if (own->open_count == OPEN_MAX) {
		own->spans[span].dropped++;
		return;
	}
	open = xcalloc(1, sizeof(*open));
	*open = (struct open_own){
		.outer = outer,
		.begin_ns = event->stored->time_ns,
		.span = span,
		.thread = event->stored->thread,
		.depth = outer ? outer->depth + 1 : 0,
	};
	own->open_count++;
	table_put(own->open, key, open);
}

static void add(struct own_spans *own, const struct open_own *open, const struct ev_header *end)
{
	struct executions *all = own->all;

	if (all->count == EXECUTIONS_MAX) {
		own->spans[open->span].dropped++;
		return;
	}
	ARRAY_GROW(all->list, all->count, all->capacity, 1024);
	all->list[all->count++] = (struct execution){
		.thread = end->thread,
		.begin_thread = open->thread,
		.span = open->span,
		.begin_ns = open->begin_ns,
		.end_ns = end->time_ns > open->begin_ns ? end->time_ns : open->begin_ns,
		.depth = open->depth,
	};
	own->spans[open->span].count++;
}

static void end(struct own_spans *own, uint32_t span, const struct own_event *event)
{
	struct open_own *open;
	uint64_t key;

	if (!key_of(own, span, event, &key))
		return;
	open = table_find(own->open, key);
	if (!open) {
		own->spans[span].ends_alone++;
		return;
	}
	add(own, open, event->stored);
	if (open->outer)
		table_put(own->open, key, open->outer);
	else
		table_take(own->open, key);
	free(open);
	own->open_count--;
}

/* An event may end one execution and begin the next one. */
static void on_event(struct own_spans *own, const struct ev_user_event *e)
{
	struct own_event event;
	const struct own_roles *roles = roles_of(own, e, &event);

	for (uint32_t span = 0; roles && span < SPANS_MAX; span++) {
		if (roles->bits[OWN_SPAN_ENDS] >> span & 1)
			end(own, span, &event);
		if (roles->bits[OWN_SPAN_BEGINS] >> span & 1)
			begin(own, span, &event);
	}
}

void own_spans_take(struct own_spans *own, const struct ev_header *header)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_USER_SCHEMA:
		own_events_take(own->events, (const struct ev_user_schema *)header);
		break;
	case EV_USER_EVENT:
		on_event(own, (const struct ev_user_event *)header);
		break;
	}
}

void own_spans_finish(struct own_spans *own, bool (*lives)(void *data, uint32_t thread), void *data)
{
	const struct open_own *open;
	size_t cursor = 0;

	while ((open = table_next(own->open, &cursor)))
		for (; open; open = open->outer) {
			struct span *span = &own->spans[open->span];

			*(own->list[open->span].key || lives(data, open->thread) ? &span->unfinished : &span->died) +=
				1;
		}
}
