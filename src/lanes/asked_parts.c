/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/asked_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "options/settings.h"
#include "states/state.h"

static int add_word(const char *option, const char *word, struct part_words *out)
{
	if (out->count == PART_FILTER_WORDS_MAX)
		return fail_plain(-EINVAL, "parts are of at most %d names by --%s", PART_FILTER_WORDS_MAX, option);
	if (strlen(word) >= PART_FILTER_WORD_BYTES)
		return fail_plain(-EINVAL, "--%s takes a name of less than %d bytes here", option,
				  PART_FILTER_WORD_BYTES);
	strcpy(out->words[out->count++], word);
	return 0;
}

/* THREAD@NS. False: it is something else. */
static bool read_execution(const char *word, uint64_t first_ns, struct part_filter *out)
{
	char *at, *end;
	unsigned long thread = strtoul(word, &at, 10);
	long long since_ns;

	if (word[0] < '1' || word[0] > '9' || *at != '@' || thread > UINT32_MAX)
		return false;
	since_ns = strtoll(at + 1, &end, 10);
	if (end == at + 1 || *end)
		return false;
	out->execution_thread = thread;
	out->execution_begin_ns = first_ns + since_ns;
	return true;
}

static int read_span(const char *word, uint64_t first_ns, struct part_filter *out)
{
	uint64_t *length_ns = *word == '>' ? &out->span_ns_min : *word == '<' ? &out->span_ns_max : NULL;

	if (length_ns)
		return duration_parse(word + 1, length_ns); /* options were checked when they were read */
	if (read_execution(word, first_ns, out))
		return 0;
	return add_word("spans", word, &out->spans);
}

static int read_cpus(const struct filter_words *words, struct part_filter *out)
{
	for (size_t i = 0; i < words->count; i++) {
		if (out->cpu_count == PART_FILTER_CPUS_MAX)
			return fail_plain(-EINVAL, "--cpu can be given at most %d times", PART_FILTER_CPUS_MAX);
		out->cpus[out->cpu_count++] = strtoul(words->words[i], NULL, 10);
	}
	return 0;
}

int asked_parts_read(const struct settings *settings, uint64_t first_ns, struct asked_parts *out)
{
	const struct span_words *spans = &settings->span_words;
	struct part_filter *filter = &out->filter;
	int err;

	memset(out, 0, sizeof(*out));
	out->causes = settings->choice.causes;
	filter->has_spans = spans->count;
	filter->span_ns_max = spans->count ? INT64_MAX : 0;
	err = read_cpus(&settings->filter.words[FILTER_CPU], filter);
	for (size_t i = 0; i < spans->count && !err; i++)
		err = read_span(spans->words[i], first_ns, filter);
	for (size_t i = 0; i < settings->choice.object_count && !err; i++)
		err = add_word("object", settings->choice.objects[i], &filter->objects);
	return err;
}

bool asked_parts_have_cause(const struct asked_parts *asked, const struct state *state)
{
	enum wait_cause cause;

	if (!asked->causes)
		return true;
	if (state->kind == STATE_BLOCKED)
		cause = state->value.why < CAUSES ? state->value.why : CAUSE_OTHER;
	else if (state->kind == STATE_RUNNABLE)
		cause = state->value.why == READY_THROTTLED ? CAUSE_THROTTLED : CAUSE_PREEMPTED;
	else
		return false;
	return asked->causes >> cause & 1;
}

bool asked_parts_are_set(const struct asked_parts *asked)
{
	return asked->causes || asked->filter.objects.count || asked->filter.cpu_count || asked->filter.has_spans;
}
