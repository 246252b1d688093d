/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/asked_filter.h"

#include "base/memory.h"
#include "base/table.h"
#include "query/filter_threads.h"
#include "query/trace_states.h"
#include "serve/answer.h"
#include "states/states.h"

enum { WORD_BYTES = 256 };

static int read_words(const struct request *request, enum filter_kind kind, struct asked_filter *asked)
{
	const char *name = filter_kind_name(kind);
	char word[WORD_BYTES];

	for (size_t i = 0; request_text_at(request, name, i, word, sizeof(word)); i++) {
		int err = event_filter_add(&asked->filter, kind, arena_strdup(asked->arena, word));

		if (err)
			return err;
		text_printf(&asked->key, "%s=%s\n", name, word);
	}
	return 0;
}

int asked_filter_read(const struct request *request, struct asked_filter *asked)
{
	int64_t from_ns = 0, to_ns = 0;
	int err = 0;

	*asked = (struct asked_filter){ .arena = arena_new() };
	for (unsigned int kind = 0; kind < FILTER_KINDS && !err; kind++)
		err = read_words(request, kind, asked);
	request_number(request, "from", 0, INT64_MAX, &from_ns);
	request_number(request, "to", 0, INT64_MAX, &to_ns);
	asked->filter.from_ns = from_ns;
	asked->filter.to_ns = to_ns;
	text_printf(&asked->key, "%lld %lld\n", (long long)from_ns, (long long)to_ns);
	return err;
}

void asked_filter_fini(struct asked_filter *asked)
{
	arena_free(asked->arena);
	text_fini(&asked->key);
	table_free(asked->threads);
}

bool asked_filter_is_set(const struct asked_filter *asked)
{
	return asked->filter.from_ns || asked->filter.to_ns || event_filter_is_set(&asked->filter);
}

int asked_filter_find_threads(struct asked_filter *asked, const struct trace_states *states, const char *trace_path)
{
	return filter_threads_find(&asked->filter, states_file(states->states), trace_path, &asked->threads);
}
