/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/activity_store.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "activity/parameter_text.h"
#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"

enum {
	KEPT_MAX = 1 << 20,
	NAMES_MAX = 4096,
	WORDS_BYTES_MAX = 64 << 20, /* of all parameters */
	WORDS_MAX = 200,            /* of those of one activity */
};

struct name {
	char *source, *name; /* source: NULL: built in */
};

struct activity_store {
	struct kept_activity *list;
	uint64_t *until_ns; /* up to each place: the latest end of all; valid while is_sorted */
	size_t count, capacity, until_capacity;
	bool is_sorted;
	struct name *names;
	size_t name_count, name_capacity;
	struct table *by_name; /* number + 1, by the hash of source and name */
	struct text words;     /* each ends with a NUL; the first one is empty */
	uint64_t left_out;
};

struct activity_store *activity_store_new(void)
{
	struct activity_store *store = xcalloc(1, sizeof(*store));

	store->by_name = table_new();
	store->is_sorted = true;
	text_put_bytes(&store->words, "", 1);
	return store;
}

void activity_store_free(struct activity_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->name_count; i++) {
		free(store->names[i].source);
		free(store->names[i].name);
	}
	free(store->names);
	free(store->list);
	free(store->until_ns);
	table_free(store->by_name);
	text_fini(&store->words);
	free(store);
}

/* Its number + 1; 0: there are too many. */
static uintptr_t name_of(struct activity_store *store, const char *source, const char *name)
{
	uint64_t key = hash_string(hash_string(1, source ? source : ""), name);
	uintptr_t number = (uintptr_t)table_find(store->by_name, key);

	if (number || store->name_count == NAMES_MAX)
		return number;
	ARRAY_GROW(store->names, store->name_count, store->name_capacity, 16);
	store->names[store->name_count++] = (struct name){
		.source = source ? xstrdup(source) : NULL,
		.name = xstrdup(name),
	};
	table_put(store->by_name, key, (void *)(uintptr_t)store->name_count);
	return store->name_count;
}

/* Where they begin. */
static uint32_t put_words(struct activity_store *store, const struct activity *activity)
{
	size_t begin = store->words.length;

	if (!activity->parameter_count || begin >= WORDS_BYTES_MAX - WORDS_MAX)
		return 0;
	for (size_t i = 0; i < activity->parameter_count && store->words.length - begin < WORDS_MAX; i++) {
		if (i)
			text_put(&store->words, " ");
		activity_parameter_put(&store->words, &activity->parameters[i]);
	}
	if (store->words.length - begin > WORDS_MAX)
		store->words.length = begin + WORDS_MAX;
	text_put_bytes(&store->words, "", 1);
	return begin;
}

void activity_store_add(struct activity_store *store, const struct activity *activity)
{
	uintptr_t name = store->count < KEPT_MAX ? name_of(store, activity->source, activity->name) : 0;

	if (!name) {
		store->left_out++;
		return;
	}
	ARRAY_GROW(store->list, store->count, store->capacity, 256);
	store->is_sorted = false;
	store->list[store->count++] = (struct kept_activity){
		.begin_ns = activity->begin_ns,
		.end_ns = activity->end_ns,
		.thread = activity->thread,
		.end_thread = activity->end_thread != activity->thread ? activity->end_thread : 0,
		.name = name - 1,
		.words = put_words(store, activity),
		.is_message = activity->is_message,
	};
}

static uint32_t move_words(struct activity_store *store, const char *words)
{
	size_t begin = store->words.length;

	if (!*words || begin >= WORDS_BYTES_MAX - WORDS_MAX)
		return 0;
	text_put_bytes(&store->words, words, strlen(words) + 1);
	return begin;
}

static void move_one(struct activity_store *store, const struct activity_store *from, const struct kept_activity *moved)
{
	const struct name *named = &from->names[moved->name];
	uintptr_t name = store->count < KEPT_MAX ? name_of(store, named->source, named->name) : 0;

	if (!name) {
		store->left_out++;
		return;
	}
	ARRAY_GROW(store->list, store->count, store->capacity, 256);
	store->list[store->count] = *moved;
	store->list[store->count].name = name - 1;
	store->list[store->count++].words = move_words(store, from->words.bytes + moved->words);
	store->is_sorted = false;
}

void activity_store_move(struct activity_store *store, struct activity_store *from)
{
	for (size_t i = 0; i < from->count; i++)
		move_one(store, from, &from->list[i]);
	store->left_out += from->left_out;
	from->left_out = 0;
	from->count = 0;
	from->words.length = 1; /* the empty one */
}

static int by_begin(const void *a, const void *b)
{
	const struct kept_activity *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

const struct kept_activity *activity_store_list(struct activity_store *store, size_t *count)
{
	uint64_t until_ns = 0;

	*count = store->count;
	if (store->is_sorted)
		return store->list;
	qsort(store->list, store->count, sizeof(*store->list), by_begin);
	if (store->until_capacity < store->capacity) {
		store->until_ns = xrealloc(store->until_ns, store->capacity, sizeof(*store->until_ns));
		store->until_capacity = store->capacity;
	}
	for (size_t i = 0; i < store->count; i++) {
		if (store->list[i].end_ns > until_ns)
			until_ns = store->list[i].end_ns;
		store->until_ns[i] = until_ns;
	}
	store->is_sorted = true;
	return store->list;
}

void activity_store_judge(struct activity_store *store, size_t at, size_t judge, enum activity_verdict verdict)
{
	store->list[at].verdicts[judge] = verdict;
}

void activity_store_forget(struct activity_store *store, size_t judge)
{
	for (size_t i = 0; i < store->count; i++)
		store->list[i].verdicts[judge] = ACTIVITY_UNJUDGED;
}

size_t activity_store_stretch(struct activity_store *store, uint64_t from_ns, uint64_t to_ns, size_t *first)
{
	size_t count;
	const struct kept_activity *list = activity_store_list(store, &count);

	*first = BOUND(0, count, i, store->until_ns[i] < from_ns);
	return BOUND(*first, count, i, list[i].begin_ns < to_ns);
}

uint64_t activity_store_left_out(const struct activity_store *store)
{
	return store->left_out;
}

size_t activity_store_name_count(const struct activity_store *store)
{
	return store->name_count;
}

const char *activity_store_name(const struct activity_store *store, uint32_t name, const char **source)
{
	*source = store->names[name].source;
	return store->names[name].name;
}

const char *activity_store_words(const struct activity_store *store, const struct kept_activity *activity)
{
	return store->words.bytes + activity->words;
}
