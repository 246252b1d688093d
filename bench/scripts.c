/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many events a second a decoder in Lua, a filter in Lua and the built-in decoders take: events of a program's own, in pairs.
 *
 *	scripts EVENTS
 *
 * Prints a line for each: what, events, events a second of CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "activity/decode/pairs.h"
#include "activity/lua/lua_language.h"
#include "activity/named_event.h"
#include "activity/script_language.h"
#include "base/text.h"
#include "session/session.h"
#include "session/threads.h"

static uint64_t made;

static void take(void *data, const struct activity *activity)
{
	(void)data;
	(void)activity;
	made++;
}

static bool emit(void *data, const struct activity *activity)
{
	take(data, activity);
	return true;
}

static void print(void *data, const char *line, size_t line_bytes)
{
	(void)data;
	fwrite(line, 1, line_bytes, stderr);
}

/* The shipped decoder, without the id of the process. */
static const char decoder[] = "local held = {}\n"
			      "function on_event(event)\n"
			      "  if event.name == 'mutex.LOCK' then held[event.argument] = event.time\n"
			      "  elseif event.name == 'mutex.UNLOCK' and held[event.argument] then\n"
			      "    activity { name = 'held', begin = held[event.argument], ['end'] = event.time,\n"
			      "      thread = event.thread, mutex = event.argument }\n"
			      "    held[event.argument] = nil\n"
			      "  end\n"
			      "end\n";

static const char counter[] = "local sizes = {}\n"
			      "function on_event(event) sizes[event.name] = event.argument end\n";

static const char filter[] = "function filter(event) return event.name == 'mutex.LOCK' and event.argument == 3 end\n";

static struct event_context *context;
static struct event_kind kinds[2] = {
	{ .subsys = "mutex", .event = "LOCK", .size_bytes = sizeof(struct ev_header) },
	{ .subsys = "mutex", .event = "UNLOCK", .size_bytes = sizeof(struct ev_header) },
};

static struct named_event event_of(uint64_t i)
{
	static struct ev_header header;
	struct named_event event;

	header = (struct ev_header){ .time_ns = 1000 * i, .thread = 1 + i / 2 % 4 };
	event = named_event_of(context, &kinds[i & 1], &header, sizeof(header), 0);
	named_event_set_own(&event, i / 2 % 16);
	return event;
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void show(const char *what, uint64_t count, double begin_s)
{
	printf("%s %llu %.0f\n", what, (unsigned long long)count, count / (cpu_s() - begin_s));
}

static int run_script(const char *what, const char *text, uint64_t count)
{
	struct script_host host = { .emit = emit, .print = print };
	struct script_parts parts;
	struct text why = { 0 };
	double begin_s = cpu_s();
	bool passes;
	void *state;
	int err = lua_language.open(what, text, strlen(text), &host, &state, &parts, &why);

	for (uint64_t i = 0; i < count && !err; i++) {
		struct named_event event = event_of(i);

		err = parts.has_filter ? lua_language.filter(state, &event, &passes, &why)
				       : lua_language.on_event(state, &event, &why);
	}
	if (err)
		fprintf(stderr, "%s\n", why.bytes);
	else
		show(what, count, begin_s);
	text_fini(&why);
	if (!err)
		lua_language.close(state);
	return err;
}

static void run_pairs(uint64_t count)
{
	struct pairs *pairs = pairs_new((struct activity_sink){ take, NULL });
	double begin_s = cpu_s();

	for (uint64_t i = 0; i < count; i++) {
		struct named_event event = event_of(i);

		pairs_on_event(pairs, &event);
	}
	show("built-in", count, begin_s);
	pairs_free(pairs);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	struct session *session = session_new(1, 0);
	struct threads *threads = threads_new(session);
	int err;

	if (!count) {
		fprintf(stderr, "Usage: scripts EVENTS\n");
		return 2;
	}
	context = event_context_new(session, threads, true);
	err = run_script("decoder", decoder, count) || run_script("two-members", counter, count) ||
	      run_script("filter", filter, count);
	run_pairs(count);
	event_context_free(context);
	threads_free(threads);
	session_free(session);
	return err || !made;
}
