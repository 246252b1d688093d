/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/serving.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/clock_answerer.h"
#include "collect/own/own_areas.h"
#include "engine/recorder.h"
#include "engine/run_events.h"
#include "findings/findings.h"
#include "live/tracing_internal.h"
#include "symbol/symbol.h"
#include "trace/trace_writer.h"

struct serving {
	struct scope *scope;
	struct recorder *recorder;    /* of what clients get; NULL: it has not begun */
	struct clock_answerer *clock; /* at the same port, of UDP; NULL: there is none */
	bool is_public;               /* also for those elsewhere */
	uint64_t
		promised_ns; /* when programs are to be told again that somebody receives their events; 0: nobody does */
};

/* How long programs believe that, should nobody say otherwise. */
static const uint64_t promise_ns = 2000000000;

struct scope_options serving_options(const struct stream_settings *settings)
{
	return (struct scope_options){
		.address = settings->listen,
		.certificate = settings->tls_cert,
		.key = settings->tls_key,
		.token = settings->token,
	};
}

int serving_check(const struct stream_settings *settings)
{
	struct scope_options options = serving_options(settings);

	return scope_check(&options);
}

/* Readers of several scopes ask how far the hosts' clocks are apart. Those of one do without. */
static void open_clock(struct serving *serving)
{
	const char *address = scope_host_port(serving->scope);

	if (address && clock_answerer_open(address, &serving->clock))
		warn("who records this scope with those of other hosts cannot ask this host's clock");
}

int serving_open(const struct stream_settings *settings, struct serving **out)
{
	struct serving *serving = xcalloc(1, sizeof(*serving));
	struct scope_options options = serving_options(settings);
	int err;

	options.is_session = true;
	err = scope_open(&options, &serving->scope);
	if (err) {
		free(serving);
		return err;
	}
	serving->is_public = settings->listen;
	open_clock(serving);
	if (serving->is_public)
		fprintf(stderr, "pinch: the scope is at %s\n", scope_address(serving->scope));
	*out = serving;
	return 0;
}

void serving_close(struct serving *serving)
{
	if (!serving)
		return;
	recorder_close(serving->recorder);
	clock_answerer_close(serving->clock);
	scope_close(serving->scope);
	free(serving);
}

int serving_begin(struct serving *serving, struct engine *engine)
{
	int err = recorder_open_stream(engine, scope_stream(serving->scope), &serving->recorder);

	return err ? err : recorder_begin(serving->recorder);
}

int serving_poll_fd(const struct serving *serving)
{
	return scope_poll_fd(serving->scope);
}

bool serving_has_clients(const struct serving *serving)
{
	return scope_client_count(serving->scope);
}

static void give_names(void *data, uint64_t begin_ns, void (*put)(void *data, const void *names, size_t size_bytes),
		       void *put_data)
{
	recorder_names(data, begin_ns, put, put_data);
}

/* Some want no more while tracing goes on: for them it ends here. */
static void end_traces(struct serving *serving, struct tracing *tracing)
{
	const struct scope_names names = { give_names, serving->recorder };
	struct outcome outcome = { .command = "", .exit_status = -1 };
	struct findings *findings;
	struct ev_collect_end *end;
	struct text notes = { 0 };

	findings = tracing_findings(tracing, &outcome, SIZE_MAX, &tracing->taking_in);
	symbols_keep_notes(tracing->engine.symbols);
	tracing_put_notes(tracing, &notes);
	recorder_flush(serving->recorder);
	end = end_event_new(tracing->engine.session, session_time_ns(tracing->engine.session),
			    findings_report(findings), &notes);
	scope_end_traces(serving->scope, &end->header, &names, clock_ns());
	free(end);
	text_fini(&notes);
	findings_free(findings);
}

/* While somebody receives the events, programs leave what they flush to him. */
static void promise(struct serving *serving, struct tracing *tracing)
{
	uint64_t now_ns = clock_ns();
	bool has_clients = scope_client_count(serving->scope);

	if (has_clients ? now_ns < serving->promised_ns : !serving->promised_ns)
		return;
	own_areas_promise(tracing->own_areas, has_clients ? now_ns + promise_ns : 0);
	serving->promised_ns = has_clients ? now_ns + promise_ns / 4 : 0;
}

void serving_step(struct serving *serving, struct tracing *tracing)
{
	promise(serving, tracing);
	recorder_step(serving->recorder, clock_ns());
	scope_step(serving->scope, clock_ns());
	recorder_serve(serving->recorder);
	if (scope_wants_end(serving->scope, clock_ns()))
		end_traces(serving, tracing);
	scope_step(serving->scope, clock_ns());
}


static void say(const struct serving *serving)
{
	struct scope_counts counts = scope_counts(serving->scope);
	struct text text = { 0 };

	text_put_count(&text, counts.clients);
	text_printf(&text, " client%s, ", counts.clients == 1 ? "" : "s");
	text_put_size(&text, counts.bytes);
	text_put(&text, " sent");
	if (counts.events_lost) {
		text_put(&text, "; ");
		text_put_count(&text, counts.events_lost);
		text_put(&text, " events were not sent to clients that were too slow");
	}
	if (counts.refused) {
		text_put(&text, "; refused, because there were too many: ");
		text_put_count(&text, counts.refused);
	}
	fprintf(stderr, "pinch: the scope has ended: %s\n", text.bytes);
	text_fini(&text);
}

void serving_finish(struct serving *serving, bool is_quiet)
{
	const struct scope_names names = { give_names, serving->recorder };
	struct trace_writer_counts counts;

	scope_hurry(serving->scope);
	recorder_serve(serving->recorder);
	recorder_finish(serving->recorder, &counts);
	scope_finish(serving->scope, &names);
	if (serving->is_public && !is_quiet)
		say(serving);
}
