/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/execution_features.h"

#include <errno.h>

#include "base/fail.h"
#include "engine/trace_open.h"
#include "query/trace_states.h"
#include "session/session.h"
#include "spans/features.h"
#include "trace/trace_reader.h"

enum { PENDING_BYTES_MAX = 1 << 20 };

static int count_events(const char *path, const struct executions *executions, struct features *features)
{
	struct session *session = session_new(1, PENDING_BYTES_MAX);
	struct feature_counts *counts = feature_counts_new(session, executions, features);
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

int execution_features(const char *path, const struct trace_states *all, const struct executions *executions,
		       struct features *features)
{
	for (size_t i = 0; i < executions->count; i++)
		features_of_states(all->states, &executions->list[i], &features[i]);
	return executions->count ? count_events(path, executions, features) : 0;
}
