/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/execution_features.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "engine/trace_open.h"
#include "query/trace_states.h"
#include "session/session.h"
#include "spans/features.h"
#include "trace/trace_reader.h"

enum { PENDING_BYTES_MAX = 1 << 20 };

static int count_events(const char *path, const struct execution_parts *parts, struct features *features)
{
	struct session *session = session_new(1, PENDING_BYTES_MAX);
	struct feature_counts *counts = feature_counts_new(session, parts, features);
	const struct ev_header *header;
	struct trace_reader *reader;
	int got, err = trace_open(path, &reader);

	if (!err) {
		while ((got = trace_reader_next(reader, &header)) && !err)
			if (got == 1)
				session_hand_out(session, header);
			else if (got != -EBADMSG)
				err = fail(got, "cannot read %s", path);
		trace_reader_close(reader);
	}
	feature_counts_free(counts);
	session_free(session);
	return err;
}

static int by_begin(const void *a, const void *b)
{
	const struct execution_part *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->execution > y->execution) - (x->execution < y->execution);
}

int execution_features(const char *path, const struct trace_states *all, const struct executions *executions,
		       struct features *features)
{
	struct execution_parts parts = { 0 };
	int err = 0;

	for (size_t i = 0; i < executions->count; i++) {
		features_of_execution(&executions->list[i], &features[i]);
		execution_parts_add(all->states, &executions->list[i], i, &parts);
	}
	for (size_t i = 0; i < parts.count; i++)
		features_of_states(all->states, &parts.list[i], &features[parts.list[i].execution]);
	if (parts.count) {
		qsort(parts.list, parts.count, sizeof(*parts.list), by_begin);
		err = count_events(path, &parts, features);
	}
	free(parts.list);
	return err;
}
