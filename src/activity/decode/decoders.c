/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/decode/decoders.h"

#include <stdlib.h>

#include "activity/activity_sums.h"
#include "activity/decode/hints.h"
#include "activity/decode/pairs.h"
#include "activity/decode/script_tables.h"
#include "activity/decode/scripts.h"
#include "activity/event_filter.h"
#include "activity/named_event.h"
#include "base/memory.h"
#include "base/text.h"
#include "own/own_events.h"
#include "session/session.h"

struct decoders {
	struct event_context *context;
	struct own_events *own;
	struct decoders_options options;
	struct activity_sums *sums;
	struct pairs *pairs;
	struct scripts *scripts;
	struct hints *hints;
	uint64_t first_ns;
	bool has_first, is_finished;
};

/* Of all decoders. */
static void take(void *data, const struct activity *activity)
{
	struct decoders *decoders = data;
	const struct activity_sink *sink = &decoders->options.sink;

	activity_sums_add(decoders->sums, activity, decoders->context);
	if (sink->take)
		sink->take(sink->data, activity);
	scripts_on_activity(decoders->scripts, activity);
}

struct named_event decoders_name(const struct decoders *decoders, const struct event_kind *kind,
				 const struct ev_header *stored, size_t stored_bytes)
{
	return named_event_of(decoders->context, kind, stored, stored_bytes, decoders->first_ns);
}

bool decoders_pass(struct decoders *decoders, const struct named_event *event)
{
	if (decoders->options.filter && !event_filter_passes(decoders->options.filter, event))
		return false;
	return scripts_pass(decoders->scripts, event);
}

/* In its own words, if it is a program's and something describes it. */
static struct named_event name_event(const struct decoders *decoders, const struct ev_header *header)
{
	struct named_event event;
	struct own_event own;

	if (header->subsys == TRACE_SUBSYS_USER && header->event == TRACE_EVENT_USER_EVENT) {
		own_events_find(decoders->own, (const struct ev_user_event *)header, &own);
		if (own.kind) {
			event = decoders_name(decoders, own.kind, own.stored, own.stored_bytes);
			named_event_set_own(&event, own.argument);
			return event;
		}
	}
	return decoders_name(decoders, event_kind_find(header->subsys, header->event), header, SIZE_MAX);
}

static void on_event(void *data, const struct ev_header *header)
{
	struct decoders *decoders = data;
	struct named_event event;

	if (!decoders->has_first)
		decoders_set_first(decoders, header->time_ns);
	event = name_event(decoders, header);
	if (!decoders_pass(decoders, &event))
		return;
	if (event.is_own) {
		pairs_on_event(decoders->pairs, &event);
		hints_on_event(decoders->hints, &event);
	}
	scripts_on_event(decoders->scripts, &event);
}

/* Without scripts only what the built-in decoders want. */
static void subscribe(struct decoders *decoders, struct session *session)
{
	bool wants_all = decoders->options.script_count || decoders->options.text;

	for (unsigned int subsys = 0; subsys < TRACE_NUM_SUBSYSTEMS; subsys++) {
		for (unsigned int event = 0; event < EVENTS_MAX; event++) {
			struct event_handler handlers[] = { { subsys << 16 | event, on_event }, { 0 } };
			bool is_wanted = wants_all || handlers[0].id == EV_USER_EVENT;

			if (is_wanted && event_kind_find(subsys, event))
				session_subscribe(session, handlers, decoders);
		}
	}
}

int decoders_open(struct session *session, struct threads *threads, const struct decoders_options *options,
		  struct decoders **out)
{
	struct decoders *decoders = xcalloc(1, sizeof(*decoders));
	struct activity_sink sink = { take, decoders };
	int err;

	decoders->options = *options;
	decoders->context = event_context_new(
		session, threads, options->script_count || options->text || options->filter || options->sink.take);
	err = scripts_open(options->scripts, options->script_count, options->text, sink, decoders->context,
			   &decoders->scripts);
	if (err) {
		decoders_close(decoders);
		return err;
	}
	decoders->sums = activity_sums_new();
	decoders->pairs = pairs_new(sink);
	decoders->hints = hints_new();
	decoders->own = own_events_new();
	own_events_subscribe(decoders->own, session);
	if (!options->only_filters)
		subscribe(decoders, session);
	*out = decoders;
	return 0;
}

void decoders_close(struct decoders *decoders)
{
	if (!decoders)
		return;
	scripts_close(decoders->scripts);
	pairs_free(decoders->pairs);
	hints_free(decoders->hints);
	activity_sums_free(decoders->sums);
	event_context_free(decoders->context);
	own_events_free(decoders->own);
	free(decoders);
}

void decoders_set_first(struct decoders *decoders, uint64_t first_ns)
{
	decoders->first_ns = first_ns;
	decoders->has_first = true;
}

void decoders_finish(struct decoders *decoders)
{
	if (!decoders->is_finished && !decoders->options.only_filters)
		scripts_finish(decoders->scripts);
	decoders->is_finished = true;
}

void decoders_look(struct decoders *decoders)
{
	if (!decoders->is_finished)
		scripts_look(decoders->scripts);
}

const struct script_tables *decoders_tables(const struct decoders *decoders)
{
	return scripts_tables(decoders->scripts);
}

const struct activity_sums *decoders_sums(const struct decoders *decoders)
{
	return decoders->sums;
}

size_t decoders_hints(const struct decoders *decoders, struct hint *out)
{
	return hints_find(decoders->hints, decoders->pairs, decoders->context, out);
}

const struct event_context *decoders_context(const struct decoders *decoders)
{
	return decoders->context;
}

const struct event_filter *decoders_filter(const struct decoders *decoders)
{
	return decoders->options.filter;
}

bool decoders_has_script_filters(const struct decoders *decoders)
{
	return scripts_have_filters(decoders->scripts);
}

size_t decoders_failed_scripts(const struct decoders *decoders)
{
	return scripts_failed(decoders->scripts);
}

/* --- Notes ------------------------------------------------------------------------------------ */

/* Threads that were looked up in the trace are there, if not in the time that is chosen. */
static bool may_be_unmet(const struct event_filter *filter, int kind)
{
	return kind != FILTER_THREAD || !filter->threads;
}

/* The word numbered i, from 0 on, that has chosen nothing. */
static bool put_unmet(const struct event_filter *filter, size_t i, struct text *note)
{
	for (int kind = 0; filter && kind < FILTER_KINDS; kind++)
		for (size_t k = 0; k < filter->words[kind].count; k++)
			if (may_be_unmet(filter, kind) && !filter->words[kind].is_met[k] && !i--) {
				text_printf(note, "--%s %s has chosen no event", filter_kind_name(kind),
					    filter->words[kind].words[k]);
				return true;
			}
	return false;
}

bool decoders_put_note(const struct decoders *decoders, size_t i, struct text *note)
{
	uint64_t left_out = activity_sums_left_out(decoders->sums), dropped = pairs_dropped(decoders->pairs);
	uint64_t tables = script_tables_left_out(scripts_tables(decoders->scripts));
	size_t script_notes = 0;

	while (scripts_note(decoders->scripts, script_notes))
		script_notes++;
	if (i < script_notes) {
		text_put(note, scripts_note(decoders->scripts, i));
		return true;
	}
	i -= script_notes;
	if (tables && !i--) {
		text_put_count(note, tables);
		text_printf(note, " tables of statistics are left out: a script can make %d", TABLES_MAX);
		return true;
	}
	if (left_out && !i--) {
		text_put_count(note, left_out);
		text_put(note, " activities are left out: there are too many different names");
		return true;
	}
	if (dropped && !i--) {
		text_put_count(note, dropped);
		text_put(note, " beginnings of activities are left out: too many had no end");
		return true;
	}
	return put_unmet(decoders->options.filter, i, note);
}
