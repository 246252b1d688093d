/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/sessions_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "derive/live_merge.h"
#include "engine/trace_info.h"
#include "scope/scope.h"
#include "scope/sessions.h"
#include "trace/trace_format.h"
#include "trace/trace_writer.h"

enum {
	OWN_FDS = 2,
	STEP_MS = 100,
	BEHIND_CHUNKS_MAX = 8, /* as long as the client has so many to take, nothing more is taken from sessions */
};

/*
 * Sessions send what is a fifth of a second old, and look for it up to four times a second. What is older than this has come from
 * all that are not held up.
 */
static const uint64_t hold_ns = 1000000000;

struct sessions_client {
	struct scope *scope;
	struct trace_writer *writer;
	struct live_merge *merge;
	struct sessions *sessions;
	int signal_fd;
	uint64_t end_ns; /* when its end was asked for */
	bool has_begun, is_ending, is_over;
};

static int open_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int open_all(struct sessions_client *client)
{
	int err = trace_writer_begin_sink(&scope_stream(client->scope)->sink, &client->writer);
	struct text info = { 0 };

	if (err)
		return fail(err, "cannot make a trace");
	trace_info_put(&info);
	trace_writer_chunk(client->writer, TRACE_CHUNK_INFO, info.bytes, info.length, NULL);
	text_fini(&info);
	client->merge = live_merge_new(client->writer);
	client->sessions = sessions_new(client->merge);
	client->signal_fd = open_signals();
	return client->signal_fd < 0 ? fail(-errno, "cannot wait for signals") : 0;
}

static void close_all(struct sessions_client *client)
{
	live_merge_free(client->merge);
	sessions_free(client->sessions);
	if (client->writer)
		trace_writer_discard(client->writer);
	if (client->signal_fd >= 0)
		close(client->signal_fd);
}

/* From the moment on when the client may have a trace. */
static void look_after_client(struct sessions_client *client, uint64_t now_ns)
{
	struct signalfd_siginfo info;
	bool wants_end;

	scope_step(client->scope, now_ns);
	client->has_begun |= scope_begin_traces(client->scope, now_ns);
	wants_end =
		read(client->signal_fd, &info, sizeof(info)) == sizeof(info) || scope_wants_end(client->scope, now_ns);
	if (wants_end && !client->is_ending) {
		client->is_ending = true;
		client->end_ns = now_ns;
		sessions_end(client->sessions, now_ns);
	}
	client->is_over = scope_is_empty(client->scope);
}

static bool is_behind(const struct sessions_client *client)
{
	return scope_behind(client->scope) >= BEHIND_CHUNKS_MAX;
}

static void no_names(void *data, uint64_t begin_ns, void (*put)(void *data, const void *names, size_t size_bytes),
		     void *put_data)
{
	(void)data, (void)begin_ns, (void)put, (void)put_data;
}

/* The names stand in the trace already: those of each session, when it had ended. */
static void finish(struct sessions_client *client)
{
	static const struct scope_names none = { no_names, NULL };

	live_merge_finish(client->merge, client->end_ns, clock_ns());
	trace_writer_flush(client->writer, UINT64_MAX, 0);
	scope_finish(client->scope, &none);
	client->is_over = true;
}

static void merge_sessions(struct sessions_client *client, uint64_t now_ns)
{
	if (is_behind(client))
		return;
	sessions_find(client->sessions);
	sessions_take(client->sessions, now_ns);
	if (!sessions_are_awaited(client->sessions, now_ns))
		live_merge_step(client->merge, now_ns - hold_ns, now_ns);
	trace_writer_flush(client->writer, UINT64_MAX, 0);
	if (client->is_ending && sessions_have_ended(client->sessions, now_ns))
		finish(client);
}

static void wait_for_all(const struct sessions_client *client)
{
	struct pollfd poll_fds[OWN_FDS + SESSIONS_POLLED_MAX] = {
		{ .fd = client->signal_fd, .events = POLLIN },
		{ .fd = scope_poll_fd(client->scope), .events = POLLIN },
	};
	bool takes = client->is_ending && !is_behind(client);
	size_t count = takes ? sessions_poll(client->sessions, poll_fds + OWN_FDS) : 0;

	poll(poll_fds, OWN_FDS + count, STEP_MS);
}

int sessions_client_run(struct scope *scope)
{
	struct sessions_client client = { .scope = scope, .signal_fd = -1 };
	int err = open_all(&client);

	while (!err && !client.is_over) {
		uint64_t now_ns = clock_ns();

		look_after_client(&client, now_ns);
		if (client.has_begun && !client.is_over)
			merge_sessions(&client, now_ns);
		if (!client.is_over)
			wait_for_all(&client);
	}
	close_all(&client);
	return err;
}
