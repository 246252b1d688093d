/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters and scripts want to know who threads are: a session of its own gets each event, if any of them asks. Else
 * chunks without chosen events are skipped.
 */
#include "rows/row_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/decode/decoders.h"
#include "activity/named_event.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "rows/event_line.h"
#include "query/filter_threads.h"
#include "session/session.h"
#include "session/threads.h"
#include "trace/trace_reader.h"
#include "values.h"

struct row_choice {
	struct event_filter filter;
	struct table *chosen_threads; /* NULL: all */
	struct session *session;
	struct threads *threads;
	struct decoders_options decoding;
	struct decoders *decoders; /* NULL: to be opened with the first event */
	uint64_t first_ns;
	bool has_context; /* events are handed to the session */
};

/* Whether what is asked for cannot be said of an event alone. */
static bool needs_context(const struct row_choice_options *options)
{
	const struct filter_words *words = options->filter.words;

	return options->script_count || options->text || options->sink.take || words[FILTER_HOST].count ||
	       words[FILTER_CPU].count || words[FILTER_PROCESS].count;
}

/* Nobody asks for threads that have ended: the reader bounds how many live at a time. */
static void forget_ended(struct row_choice *choice, const struct ev_header *known)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)known;

	if (known->subsys != TRACE_SUBSYS_SCHED || known->event != TRACE_EVENT_SCHED_SWITCH || e->state != SWITCH_DEAD)
		return;
	if (threads_find(choice->threads, known->thread))
		threads_forget(choice->threads, threads_get(choice->threads, known->thread));
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Of numbers of threads, which is what such words are taken for. */
static void choose_threads(const struct filter_words *words, struct trace_reader *reader)
{
	for (size_t i = 0; i < words->count; i++)
		if (!is_number(words->words[i]))
			return;
	for (size_t i = 0; i < words->count; i++)
		trace_reader_choose_thread(reader, strtoul(words->words[i], NULL, 10));
}

static void skip_chunks(const struct row_choice *choice, struct trace_reader *reader)
{
	if (choice->has_context)
		return;
	choose_threads(&choice->filter.words[FILTER_THREAD], reader);
	if (choice->filter.from_ns)
		trace_reader_seek(reader, trace_reader_extent(reader)->first_ns + choice->filter.from_ns);
}

static int open_decoders(struct row_choice *choice)
{
	int err = decoders_open(choice->session, choice->threads, &choice->decoding, &choice->decoders);

	if (!err)
		decoders_set_first(choice->decoders, choice->first_ns);
	return err;
}

int row_choice_open(const struct row_choice_options *options, struct trace_reader *reader, const char *path,
		    struct row_choice **out)
{
	struct row_choice *choice = xcalloc(1, sizeof(*choice));
	int err = 0;

	choice->decoding = (struct decoders_options){
		.scripts = options->scripts,
		.script_count = options->script_count,
		.text = options->text,
		.filter = &choice->filter,
		.sink = options->sink,
		.only_filters = !options->sink.take,
	};
	choice->filter = options->filter;
	choice->has_context = needs_context(options);
	choice->session = session_new(1, 0);
	choice->threads = threads_new(choice->session);
	if (!choice->filter.threads)
		err = filter_threads_find(&choice->filter, reader, path, &choice->chosen_threads);
	choice->first_ns = trace_reader_extent(reader)->first_ns;
	if (!err && !options->text)
		err = open_decoders(choice);
	if (err) {
		row_choice_close(choice);
		return err;
	}
	skip_chunks(choice, reader);
	*out = choice;
	return 0;
}

void row_choice_close(struct row_choice *choice)
{
	if (!choice)
		return;
	decoders_close(choice->decoders);
	threads_free(choice->threads);
	session_free(choice->session);
	table_free(choice->chosen_threads);
	free(choice);
}

bool row_choice_needs_all(const struct row_choice *choice)
{
	return choice->has_context;
}

bool row_choice_take(struct row_choice *choice, const struct ev_header *known, const struct event_line *line)
{
	struct named_event event;
	bool passes;

	if (!choice->decoders && open_decoders(choice))
		return false;
	if (choice->has_context && known)
		session_hand_out(choice->session, known);
	event = decoders_name(choice->decoders, line->kind, line->header, line->size_bytes);
	if (line->argument)
		named_event_set_own(&event, *line->argument);
	passes = decoders_pass(choice->decoders, &event);
	if (choice->has_context && known)
		forget_ended(choice, known);
	return passes;
}

void row_choice_follow(struct row_choice *choice, const struct ev_header *known)
{
	if (!known)
		return;
	session_hand_out(choice->session, known);
	forget_ended(choice, known);
}

void row_choice_finish(struct row_choice *choice)
{
	decoders_finish(choice->decoders);
}

const struct script_tables *row_choice_tables(const struct row_choice *choice)
{
	return decoders_tables(choice->decoders);
}

const struct event_context *row_choice_context(const struct row_choice *choice)
{
	return decoders_context(choice->decoders);
}

int row_choice_report(const struct row_choice *choice, const char *path)
{
	struct text note = { 0 }, said = { 0 };

	for (size_t i = 0; decoders_put_note(choice->decoders, i, &note); i++) {
		said.length = 0;
		text_put_escaped(&said, note.bytes);
		warn("%s: %s", path, said.bytes);
		note.length = 0;
	}
	text_fini(&note);
	text_fini(&said);
	return decoders_failed_scripts(choice->decoders) ? -EINVAL : 0;
}
