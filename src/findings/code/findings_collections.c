/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What garbage collection had of the running time, by samples in threads and functions of collectors. */
#include "findings/code/findings_code.h"

#include <string.h>

#include "findings/names/collectors.h"
#include "findings/parts/words.h"

enum { COLLECTORS_MAX = 8, NAMES_MAX = 4, CALLERS_MAX = 64 };

/* A function stands out if so much was begun there. */
static const double caller_min = 0.3;

struct caller {
	const char *name;
	double ns;
};

struct collection {
	const struct collector *collector;
	struct code_sum sum;
	const char *names[NAMES_MAX]; /* of threads, those of one pattern once; the first that were seen */
	size_t name_count;
	struct caller callers[CALLERS_MAX]; /* functions that called the collector; the first that were seen */
	size_t caller_count;
};

static struct collection *find_collection(struct collection *all, size_t *count, const struct collector *collector)
{
	for (size_t i = 0; i < *count; i++)
		if (all[i].collector == collector)
			return &all[i];
	if (*count == COLLECTORS_MAX)
		return NULL;
	all[*count].collector = collector;
	return &all[(*count)++];
}

static void add_name(struct findings *findings, struct collection *collection, const char *thread)
{
	const char *name = findings_group_name(findings, thread);

	for (size_t i = 0; i < collection->name_count; i++)
		if (!strcmp(collection->names[i], name))
			return;
	if (collection->name_count < NAMES_MAX)
		collection->names[collection->name_count++] = name;
}

/* The function of the program that allocated, whatever of the runtime is between. */
static void add_caller(struct findings *findings, struct collection *collection, const struct report_frame *frames,
		       size_t count, double ns)
{
	const char *name = words_place(findings, frames, count);
	size_t i = 0;

	while (name && i < collection->caller_count && strcmp(collection->callers[i].name, name) != 0)
		i++;
	if (!name || i == CALLERS_MAX)
		return;
	if (i == collection->caller_count)
		collection->callers[collection->caller_count++].name = name;
	collection->callers[i].ns += ns;
}

static const char *main_caller(const struct collection *collection)
{
	const struct caller *most = collection->callers;

	for (size_t i = 1; i < collection->caller_count; i++)
		if (collection->callers[i].ns > most->ns)
			most = &collection->callers[i];
	return most->ns >= caller_min * collection->sum.ns[CODE_CMETRIC] ? most->name : NULL;
}

static struct report_collection as_row(struct findings *findings, const struct code_places *places,
				       struct collection *collection)
{
	const char **names = arena_alloc(findings->arena, NAMES_MAX * sizeof(*names));
	struct report_code_time time = findings_code_time(places, &collection->sum);

	memcpy(names, collection->names, sizeof(collection->names));
	return (struct report_collection){
		.name = collection->collector->name,
		.advice = collection->collector->advice,
		.thread_names = names,
		.thread_name_count = collection->name_count,
		.time = time,
		.caller = main_caller(collection),
	};
}

void findings_add_collections(struct findings *findings, const struct code_places *places)
{
	struct collection *all = arena_alloc(findings->arena, COLLECTORS_MAX * sizeof(*all));
	struct report_collection *rows;
	size_t count = 0;

	for (size_t i = 0; i < places->count; i++) {
		const struct code_place *place = &places->list[i];
		size_t own;
		const struct collector *collector =
			place->sample ? collector_of(place->sample->name, place->frames, place->frame_count, &own)
				      : NULL;
		struct collection *collection = collector ? find_collection(all, &count, collector) : NULL;

		if (!collection)
			continue;
		code_sum_add(places->shares, &collection->sum, place->sample);
		add_name(findings, collection, place->sample->name);
		add_caller(findings, collection, place->frames + own, place->frame_count - own,
			   place->ns[CODE_CMETRIC]);
	}
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = as_row(findings, places, &all[i]);
	findings->report.code.collections = rows;
	findings->report.code.collection_count = count;
}
