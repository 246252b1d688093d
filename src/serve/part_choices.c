/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/part_choices.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lanes/part_choice.h"
#include "lanes/part_filter.h"
#include "query/trace_states.h"
#include "serve/answer.h"
#include "values.h"

enum { USED_MAX = 16, UNUSED_MAX = 3, NUMBER_BYTES = 48, STATUS_BAD_REQUEST = 400 };

struct part_choices {
	const struct trace_states *all;
	struct graph_labels *labels;
	const struct states_pause *pause;
	/* Those in use, at most one for each thread that answers (http_server.c), and a few others; the last used one first. */
	struct kept {
		struct part_choice *choice;
		unsigned int users;
	} kept[USED_MAX + UNUSED_MAX];
	size_t count;
};

struct part_choices *part_choices_new(const struct trace_states *all, struct graph_labels *labels,
				      const struct states_pause *pause)
{
	struct part_choices *choices = xcalloc(1, sizeof(*choices));

	choices->all = all;
	choices->labels = labels;
	choices->pause = pause;
	return choices;
}

void part_choices_free(struct part_choices *choices)
{
	if (!choices)
		return;
	for (size_t i = 0; i < choices->count; i++)
		part_choice_free(choices->kept[i].choice);
	free(choices);
}

/* --- What is asked for --------------------------------------------------------------------------- */

static bool read_words(const struct request *request, const char *name, struct part_words *out)
{
	char word[PART_FILTER_WORD_BYTES];

	while (request_text_at(request, name, out->count, word, sizeof(word))) {
		if (out->count == PART_FILTER_WORDS_MAX)
			return false;
		memcpy(out->words[out->count++], word, strlen(word) + 1);
	}
	return true;
}

static bool read_cpus(const struct request *request, struct part_filter *out)
{
	char word[NUMBER_BYTES], *end;

	while (request_text_at(request, "cpu", out->cpu_count, word, sizeof(word))) {
		unsigned long cpu = strtoul(word, &end, 10);

		if (out->cpu_count == PART_FILTER_CPUS_MAX || word[0] < '0' || word[0] > '9' || *end || cpu > CPUS_MAX)
			return false;
		out->cpus[out->cpu_count++] = cpu;
	}
	return true;
}

/* THREAD@NS */
static bool read_execution(const struct request *request, uint64_t first_ns, struct part_filter *out)
{
	char word[NUMBER_BYTES], *at, *end;
	unsigned long thread;

	if (!request_text(request, "execution", word, sizeof(word)))
		return true;
	thread = strtoul(word, &at, 10);
	if (word[0] < '1' || word[0] > '9' || *at != '@' || thread > UINT32_MAX)
		return false;
	out->execution_thread = thread;
	out->execution_begin_ns = first_ns + strtoll(at + 1, &end, 10);
	return end != at + 1 && !*end;
}

bool span_filter_read(const struct request *request, uint64_t first_ns, struct part_filter *out)
{
	int64_t least_ns = 0, most_ns = INT64_MAX;
	bool has_least = request_number(request, "span-least", 0, INT64_MAX, &least_ns);
	bool has_most = request_number(request, "span-most", 0, INT64_MAX, &most_ns);

	if (!read_words(request, "span", &out->spans) || !read_execution(request, first_ns, out))
		return false;
	out->has_spans = has_least || has_most || out->spans.count || out->execution_thread;
	if (out->has_spans) {
		out->span_ns_min = least_ns;
		out->span_ns_max = most_ns;
	}
	return true;
}

bool part_filter_read(const struct request *request, uint64_t first_ns, struct part_filter *out)
{
	return read_words(request, "object", &out->objects) && read_cpus(request, out) &&
	       span_filter_read(request, first_ns, out);
}

/* --- Those that are kept -------------------------------------------------------------------------- */

/* Of those that nobody uses, all but the last few go. */
static void forget_unused(struct part_choices *choices)
{
	size_t kept = 0, unused = 0;

	for (size_t i = 0; i < choices->count; i++)
		if (choices->kept[i].users || unused++ < UNUSED_MAX)
			choices->kept[kept++] = choices->kept[i];
		else
			part_choice_free(choices->kept[i].choice);
	choices->count = kept;
}

/* In the first place, before the others. */
static struct part_choice *keep(struct part_choices *choices, size_t place, struct kept kept)
{
	memmove(choices->kept + 1, choices->kept, place * sizeof(*choices->kept));
	kept.users++;
	choices->kept[0] = kept;
	return kept.choice;
}

static struct part_choice *find(struct part_choices *choices, const struct part_filter *filter)
{
	struct kept made = { 0 };

	for (size_t i = 0; i < choices->count; i++)
		if (!memcmp(part_choice_filter(choices->kept[i].choice), filter, sizeof(*filter)))
			return keep(choices, i, choices->kept[i]);
	forget_unused(choices);
	assert(choices->count < USED_MAX + UNUSED_MAX);
	made.choice = part_choice_new(choices->all, choices->labels, filter);
	part_choice_set_pause(made.choice, choices->pause);
	return keep(choices, choices->count++, made);
}

void part_choices_release(struct part_choices *choices, struct part_choice *choice)
{
	for (size_t i = 0; i < choices->count; i++)
		choices->kept[i].users -= choices->kept[i].choice == choice;
	forget_unused(choices);
}

bool part_choices_find(struct part_choices *choices, const struct request *request, struct reply *reply,
		       struct part_choice **out)
{
	static const struct part_filter nothing;
	struct part_filter filter;

	memset(&filter, 0, sizeof(filter)); /* filters are compared byte by byte */
	if (!part_filter_read(request, trace_states_time(choices->all, 0), &filter)) {
		reply_fail(
			reply, STATUS_BAD_REQUEST,
			"parts are of at most %d objects, %d spans and %d CPUs by number, or of the execution THREAD@NS",
			PART_FILTER_WORDS_MAX, PART_FILTER_WORDS_MAX, PART_FILTER_CPUS_MAX);
		return false;
	}
	*out = memcmp(&filter, &nothing, sizeof(nothing)) ? find(choices, &filter) : NULL;
	return true;
}
