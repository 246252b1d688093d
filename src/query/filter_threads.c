/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/filter_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "activity/event_filter.h"
#include "base/table.h"
#include "query/thread_words.h"

static bool is_number(const char *word, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(word, &end, 10);
	*number = value;
	return *word >= '0' && *word <= '9' && !*end && !errno && value <= UINT32_MAX;
}

int filter_threads_find(struct event_filter *filter, struct trace_reader *reader, const char *path,
			struct table **threads)
{
	const struct filter_words *words = &filter->words[FILTER_THREAD];
	struct table *numbers = table_new(), *pids = table_new();
	const char *names[FILTER_WORDS_MAX];
	size_t name_count = 0;
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < words->count; i++)
		if (is_number(words->words[i], &number))
			table_put(numbers, number, numbers);
		else
			names[name_count++] = words->words[i];
	if (name_count)
		err = thread_words_find(reader, path, names, name_count, numbers, pids);
	table_free(pids);
	*threads = words->count && !err ? numbers : NULL;
	if (!*threads)
		table_free(numbers);
	filter->threads = *threads;
	return err;
}
