/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/activity_pass.h"

#include <errno.h>
#include <stdlib.h>

#include "activity/decode/decoders.h"
#include "base/clock.h"
#include "base/memory.h"
#include "engine/trace_open.h"
#include "session/session.h"
#include "session/threads.h"
#include "trace/trace_reader.h"
#include "values.h"

enum { EVENTS_BETWEEN_LOOKS = 1000 };

struct activity_pass {
	struct activity_pass_options options;
	struct trace_reader *trace; /* NULL: not open */
	struct session *session;
	struct threads *threads;
	struct decoders *decoders;
	uint64_t until_ns;
	uint64_t looked_ns; /* until_ns when statistics were made last */
	bool is_complete;   /* as far as it has grown */
	bool is_stopped, has_failed;
};

static int open_pass(struct activity_pass *pass)
{
	const struct activity_pass_options *options = &pass->options;
	const struct decoders_options decoding = {
		.scripts = options->scripts,
		.script_count = options->script_count,
		.text = options->text,
		.filter = options->filter,
		.sink = options->sink,
	};
	int err = trace_open(options->trace_path, &pass->trace);

	if (err)
		return err;
	trace_reader_count_from(pass->trace, options->first_ns);
	pass->session = session_new(1, 0);
	pass->threads = threads_new(pass->session);
	err = decoders_open(pass->session, pass->threads, &decoding, &pass->decoders);
	if (err)
		return err;
	decoders_set_first(pass->decoders, trace_reader_extent(pass->trace)->first_ns);
	return 0;
}

int activity_pass_open(const struct activity_pass_options *options, struct activity_pass **out)
{
	struct activity_pass *pass = xcalloc(1, sizeof(*pass));
	int err = 0;

	pass->options = *options;
	if (!options->text)
		err = open_pass(pass);
	if (err)
		activity_pass_close(pass);
	else
		*out = pass;
	return err;
}

void activity_pass_close(struct activity_pass *pass)
{
	if (!pass)
		return;
	decoders_close(pass->decoders);
	threads_free(pass->threads);
	session_free(pass->session);
	if (pass->trace)
		trace_reader_close(pass->trace);
	free(pass);
}

/* Nobody asks for threads that have ended: the reader bounds how many live at a time. */
static void forget_ended(struct activity_pass *pass, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;

	if (header->subsys != TRACE_SUBSYS_SCHED || header->event != TRACE_EVENT_SCHED_SWITCH ||
	    e->state != SWITCH_DEAD)
		return;
	if (threads_find(pass->threads, header->thread))
		threads_forget(pass->threads, threads_get(pass->threads, header->thread));
}

/* False: there are no more events. */
static bool take_event(struct activity_pass *pass)
{
	const struct ev_header *header;
	int got = trace_reader_next(pass->trace, &header);

	if (got == -EBADMSG)
		return true;
	if (got != 1)
		return false;
	pass->until_ns = header->time_ns;
	session_hand_out(pass->session, header);
	forget_ended(pass, header);
	return true;
}

static void take_events(struct activity_pass *pass, uint64_t begin_ns, uint64_t budget_ns)
{
	int looks_every = pass->options.text ? 1 : EVENTS_BETWEEN_LOOKS; /* an event may take it long */
	bool has_more = true;

	while (has_more && clock_ns() - begin_ns < budget_ns)
		for (int i = 0; i < looks_every && has_more; i++)
			has_more = take_event(pass);
	pass->is_complete = !has_more;
}

/* All is read, or nobody wants more. Of a trace that grows, statistics of a reader's script are of what there is. */
static void finish(struct activity_pass *pass)
{
	if (pass->is_stopped || !pass->options.is_growing) {
		decoders_finish(pass->decoders);
	} else if (pass->options.text && pass->looked_ns != pass->until_ns) {
		pass->looked_ns = pass->until_ns;
		decoders_look(pass->decoders);
	}
}

void activity_pass_run(struct activity_pass *pass, uint64_t budget_ns)
{
	uint64_t begin_ns = clock_ns();

	if (!pass->trace && open_pass(pass))
		pass->has_failed = true;
	if (pass->has_failed) {
		pass->is_complete = true;
		return;
	}
	if (!pass->is_complete && !pass->is_stopped)
		take_events(pass, begin_ns, budget_ns);
	pass->is_complete |= pass->is_stopped;
	if (pass->is_complete)
		finish(pass);
}

void activity_pass_stop(struct activity_pass *pass)
{
	pass->is_stopped = true;
}

void activity_pass_grow(struct activity_pass *pass)
{
	if (!pass->trace || pass->has_failed) /* what is opened later has all of it */
		return;
	trace_reader_grow(pass->trace);
	pass->is_complete = pass->is_stopped;
}

bool activity_pass_is_complete(const struct activity_pass *pass, uint64_t *until_ns)
{
	*until_ns = pass->until_ns;
	return pass->is_complete;
}

const struct decoders *activity_pass_decoders(const struct activity_pass *pass)
{
	return pass->decoders;
}
