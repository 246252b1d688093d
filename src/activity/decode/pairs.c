/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Beginnings without an end yet wait in lists: of pairs a list for each thread and kind of pair, the last one first; of messages a
 * list for each kind and argument, the first one first. All are also in one list by age, whose oldest is forgotten when there are too
 * many. Of each kind, process and argument the last beginning of a pair is known: a request may end in another thread.
 */
#include "activity/decode/pairs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/event_words.h"
#include "activity/named_event.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"

enum {
	OPEN_MAX = 1 << 16,
	SEARCHED_MAX = 1000, /* beginnings, for one end */
	KINDS_MAX = 4096,    /* of pairs: further ones are not looked for */
	NAME_BYTES_MAX = 160,
};

struct pair_kind {
	uint64_t key;
	bool has_equal_arguments; /* some end had the argument of its beginning, and that was not 0 */
	uint64_t ended, longest_ns;
	struct unended unended; /* of the last pairs_each_unended() */
	char name[NAME_BYTES_MAX];
};

struct open_pair {
	struct open_list *list;
	struct pair_kind *kind;
	struct open_pair *before, *after; /* in the list: before is newer */
	struct open_pair *older, *newer;  /* of all */
	uint64_t begin_ns;
	uint64_t ended_before; /* pairs of its kind */
	uint64_t last_key;     /* in the table of the last ones; 0: a message */
	uint32_t thread, argument;
	bool is_shared; /* another one had the same key when it began: the argument does not tell them apart */
};

struct open_list {
	uint64_t key;
	struct open_pair *newest, *oldest;
};

struct pairs {
	struct activity_sink sink;
	struct table *kinds; /* by key */
	struct table *lists; /* by key */
	struct table *last;  /* struct open_pair, by kind and argument */
	struct open_pair *oldest, *newest;
	size_t open_count;
	uint64_t dropped;
	uint64_t last_ns; /* the last event */
};

struct pairs *pairs_new(struct activity_sink sink)
{
	struct pairs *pairs = xcalloc(1, sizeof(*pairs));

	pairs->sink = sink;
	pairs->kinds = table_new();
	pairs->lists = table_new();
	pairs->last = table_new();
	return pairs;
}

/* --- Lists ------------------------------------------------------------------------------------ */

static void remove_open(struct pairs *pairs, struct open_pair *open)
{
	struct open_list *list = open->list;

	*(open->before ? &open->before->after : &list->newest) = open->after;
	*(open->after ? &open->after->before : &list->oldest) = open->before;
	*(open->older ? &open->older->newer : &pairs->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &pairs->newest) = open->older;
	pairs->open_count--;
	if (open->last_key && table_find(pairs->last, open->last_key) == open)
		table_take(pairs->last, open->last_key);
	if (!list->newest)
		free(table_take(pairs->lists, list->key));
	free(open);
}

static struct open_list *list_get(struct pairs *pairs, uint64_t key)
{
	struct open_list *list = table_find(pairs->lists, key);

	if (list)
		return list;
	list = xcalloc(1, sizeof(*list));
	list->key = key;
	table_put(pairs->lists, key, list);
	return list;
}

static void add_open(struct pairs *pairs, struct pair_kind *kind, uint64_t key, uint64_t last_key,
		     const struct named_event *event)
{
	struct open_pair *open = xcalloc(1, sizeof(*open));
	struct open_list *list;

	if (pairs->open_count == OPEN_MAX) {
		remove_open(pairs, pairs->oldest);
		pairs->dropped++;
	}
	list = list_get(pairs, key);
	*open = (struct open_pair){
		.list = list,
		.kind = kind,
		.after = list->newest,
		.older = pairs->newest,
		.begin_ns = event->time_ns,
		.ended_before = kind->ended,
		.last_key = last_key,
		.thread = event->thread,
		.argument = event->argument,
	};
	*(list->newest ? &list->newest->before : &list->oldest) = open;
	list->newest = open;
	*(pairs->newest ? &pairs->newest->newer : &pairs->oldest) = open;
	pairs->newest = open;
	pairs->open_count++;
	if (last_key) {
		open->is_shared = table_find(pairs->last, last_key) != NULL;
		table_put(pairs->last, last_key, open);
	}
}

void pairs_free(struct pairs *pairs)
{
	void *kind;
	size_t cursor = 0;

	if (!pairs)
		return;
	while (pairs->oldest)
		remove_open(pairs, pairs->oldest);
	while ((kind = table_next(pairs->kinds, &cursor)))
		free(kind);
	table_free(pairs->kinds);
	table_free(pairs->lists);
	table_free(pairs->last);
	free(pairs);
}

/* --- Events ----------------------------------------------------------------------------------- */

static uint64_t kind_key(const struct named_event *event, const struct event_words *words)
{
	char stem[NAME_BYTES_MAX];

	snprintf(stem, sizeof(stem), "%s.%.*s", event->subsystem, (int)words->stem_length, event->event);
	return hash_string(words->family, stem);
}

/* NULL: there are too many. */
static struct pair_kind *kind_get(struct pairs *pairs, const struct named_event *event, const struct event_words *words)
{
	uint64_t key = kind_key(event, words);
	struct pair_kind *kind = table_find(pairs->kinds, key);
	char name[NAME_BYTES_MAX / 2];
	size_t length;

	if (kind || table_count(pairs->kinds) == KINDS_MAX)
		return kind;
	kind = xcalloc(1, sizeof(*kind));
	kind->key = key;
	length = event_words_name(words, event->event, name, sizeof(name));
	snprintf(kind->name, sizeof(kind->name), "%.70s%s%s", event->subsystem, length ? "." : "", name);
	table_put(pairs->kinds, key, kind);
	return kind;
}

static void emit(struct pairs *pairs, const struct pair_kind *kind, const struct open_pair *open,
		 const struct named_event *end, const struct activity_parameter *parameters, size_t count)
{
	struct activity activity = {
		.name = kind->name,
		.begin_ns = open->begin_ns,
		.end_ns = end->time_ns > open->begin_ns ? end->time_ns : open->begin_ns,
		.thread = open->thread,
		.end_thread = end->thread,
		.cpu = named_event_cpu(end),
		.is_message = !open->last_key,
		.parameters = parameters,
		.parameter_count = count,
	};

	pairs->sink.take(pairs->sink.data, &activity);
}

static struct open_pair *find_begin(struct pair_kind *kind, const struct open_list *list, uint32_t argument)
{
	struct open_pair *open = list ? list->newest : NULL;

	for (int i = 0; open && open->argument != argument && i < SEARCHED_MAX; i++)
		open = open->after;
	if (open && open->argument == argument) {
		kind->has_equal_arguments |= argument != 0;
		return open;
	}
	return list && !kind->has_equal_arguments ? list->newest : NULL;
}

/* Processes have numbers of their own. */
static uint64_t last_key_of(const struct pair_kind *kind, const struct named_event *event)
{
	const struct thread *thread = named_event_thread(event);
	uint64_t process = thread ? thread->pid : 0;

	return hash_u64(~kind->key ^ hash_u64(process << 32 | event->argument)) | 1;
}

/* The thread has begun none: what another one of its process has begun with the same argument ends in this one. */
static struct open_pair *find_elsewhere(const struct pairs *pairs, struct pair_kind *kind,
					const struct named_event *event)
{
	struct open_pair *open = table_find(pairs->last, last_key_of(kind, event));

	if (open && open->is_shared)
		return NULL;
	if (open && event->argument)
		kind->has_equal_arguments = true;
	return event->argument || kind->has_equal_arguments ? open : NULL;
}

static void end_pair(struct pairs *pairs, struct pair_kind *kind, uint64_t key, const struct named_event *event)
{
	struct open_pair *open = find_begin(kind, table_find(pairs->lists, key), event->argument);
	struct activity_parameter parameters[3];
	size_t count = 1;

	if (!open)
		open = find_elsewhere(pairs, kind, event);
	if (!open)
		return;
	parameters[0] = (struct activity_parameter){ .name = "argument", .integer = open->argument };
	if (event->argument != open->argument)
		parameters[count++] = (struct activity_parameter){ .name = "end_argument", .integer = event->argument };
	if (event->thread != open->thread)
		parameters[count++] = (struct activity_parameter){ .name = "end_thread", .integer = event->thread };
	emit(pairs, kind, open, event, parameters, count);
	kind->ended++;
	if (event->time_ns > open->begin_ns && event->time_ns - open->begin_ns > kind->longest_ns)
		kind->longest_ns = event->time_ns - open->begin_ns;
	remove_open(pairs, open);
}

static void end_message(struct pairs *pairs, const struct pair_kind *kind, uint64_t key,
			const struct named_event *event)
{
	const struct open_list *list = table_find(pairs->lists, key);
	struct activity_parameter parameters[] = {
		{ .name = "argument", .integer = event->argument },
		{ .name = "receiver", .integer = event->thread },
	};

	if (!list)
		return;
	emit(pairs, kind, list->oldest, event, parameters, 2);
	remove_open(pairs, list->oldest);
}

void pairs_on_event(struct pairs *pairs, const struct named_event *event)
{
	struct event_words words = event_words_of(event->event);
	struct pair_kind *kind = words.part ? kind_get(pairs, event, &words) : NULL;
	bool is_message = words.part == PART_SEND || words.part == PART_RECEIVE;
	uint64_t key;

	pairs->last_ns = event->time_ns;
	if (!kind)
		return;
	key = hash_u64(kind->key ^ hash_u64(is_message ? event->argument : event->thread));
	if (words.part == PART_BEGIN || words.part == PART_SEND)
		add_open(pairs, kind, key, is_message ? 0 : last_key_of(kind, event), event);
	else if (is_message)
		end_message(pairs, kind, key, event);
	else
		end_pair(pairs, kind, key, event);
}

uint64_t pairs_dropped(const struct pairs *pairs)
{
	return pairs->dropped;
}

static bool is_unended(const struct pairs *pairs, const struct open_pair *open)
{
	return open->last_key && open->kind->ended - open->ended_before >= ENDED_SINCE_MIN &&
	       pairs->last_ns - open->begin_ns > 2 * open->kind->longest_ns;
}

void pairs_each_unended(const struct pairs *pairs, void (*on_each)(void *data, const struct unended *unended),
			void *data)
{
	struct pair_kind *kind;
	size_t cursor = 0;

	while ((kind = table_next(pairs->kinds, &cursor)))
		kind->unended = (struct unended){ .name = kind->name, .ended = kind->ended };
	for (const struct open_pair *open = pairs->oldest; open; open = open->newer) {
		struct unended *unended = &open->kind->unended;

		if (!is_unended(pairs, open))
			continue;
		if (!unended->count++) {
			unended->first_ns = open->begin_ns;
			unended->thread = open->thread;
		}
	}
	cursor = 0;
	while ((kind = table_next(pairs->kinds, &cursor)))
		if (kind->unended.count)
			on_each(data, &kind->unended);
}
