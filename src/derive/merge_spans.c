/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "derive/merge_source.h"
#include "derive/merge_threads.h"
#include "session/event_kinds.h"

void merge_spans_fini(struct merge_spans *spans)
{
	for (size_t i = 0; i < SPANS_MAX; i++)
		free(spans->list[i]);
}

static bool is_same(const struct ev_span_name *a, const struct ev_span_name *b)
{
	return a->kind == b->kind && a->text_bytes == b->text_bytes && !memcmp(a->text, b->text, a->text_bytes);
}

int merge_spans_add(struct merge_spans *spans, struct merge_source *source, const struct ev_span_name *name)
{
	size_t size_bytes = event_bytes(&name->header), i = 0;

	if (name->span >= SPANS_MAX || source->spans[name->span])
		return -1;
	while (i < SPANS_MAX && spans->list[i] && !is_same(spans->list[i], name))
		i++;
	if (i == SPANS_MAX)
		return -1;
	source->spans[name->span] = i + 1;
	if (spans->list[i])
		return -1;
	spans->list[i] = memcpy(xcalloc(1, size_bytes), name, size_bytes);
	return i;
}

static bool has(const struct merge_source *source, uint8_t number)
{
	return memchr(source->spans, number, sizeof(source->spans));
}

int merge_spans_find(const struct merge_source *source, const struct merge_thread *thread, uint32_t span)
{
	uint8_t number = span < SPANS_MAX ? source->spans[span] : 0;

	if (!number || !thread || !thread->reporter)
		return -1;
	return thread->reporter == source || !has(thread->reporter, number) ? number - 1 : -1;
}
