/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary requests to the viewer of a small trace: a path, a question mark, a query; and, behind a newline, the text that a POST brings
 * along. Each answer is JSON, tiles, a page, or one line that says what is wrong.
 */
#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "events.h"
#include "query/trace_states_make.h"
#include "serve/answer.h"
#include "serve/viewer.h"
#include "serve/viewer_load.h"
#include "serve/viewer_pair.h"
#include "trace/trace_writer.h"
#include "values.h"

enum { THREADS = 4, TURNS = 3000, REQUEST_BYTES_MAX = 4096 };

static struct viewer *viewer;
static struct viewer_pair *pair; /* the same trace twice */
static char directory[] = "/tmp/serve-fuzz-XXXXXX", path[sizeof(directory) + 16], states[sizeof(path) + 16];

/* Reports are made by other processes, of which there are none here. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	(void)pid, (void)path, (void)actions, (void)attributes, (void)arguments, (void)environment;
	return ENOSYS;
}

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

static void ignore(const char *line)
{
	(void)line;
}

static void put(struct trace_writer *writer, unsigned int id, uint32_t thread, uint64_t time_ns, void *event)
{
	struct ev_header *header = event;

	header->subsys = id >> 16;
	header->event = id & 0xffff;
	header->thread = thread;
	header->time_ns = time_ns;
	trace_writer_event(writer, header);
}

/* Threads that wake each other in turn, on two CPUs. */
static void write_trace(void)
{
	struct trace_writer *writer;
	uint64_t now_ns = 1000000000;

	expect(!trace_writer_open(path, &writer));
	put(writer, EV_COLLECT_RUN, 0, now_ns, &(struct ev_collect_run){ .cpu_count = 2 });
	for (uint32_t i = 1; i <= THREADS; i++)
		put(writer, EV_THREAD_FOUND, i, now_ns,
		    &(struct ev_thread_found){
			    .tid = 100 + i, .pid = 100, .ns_tid = 100 + i, .ns_pid = 100, .name = "worker" });
	for (uint32_t i = 0; i < TURNS; i++) {
		uint32_t out = 1 + i % THREADS, next = 1 + (i + 1) % THREADS;

		now_ns += 50000 + i % 7 * 1000;
		put(writer, EV_SCHED_WAKE, next, now_ns,
		    &(struct ev_sched_wake){ .waker = out, .context = WAKE_THREAD });
		put(writer, EV_SCHED_SWITCH, out, now_ns + 1000,
		    &(struct ev_sched_switch){ .next = next,
					       .state = SWITCH_SLEEPING,
					       .cpu = i % 2,
					       .object = 1 + i % 3,
					       .syscall = 202 });
	}
	expect(!trace_writer_close(writer));
}

static void take_no_pause(void *data)
{
	(void)data;
}

static void clean_up(void)
{
	unlink(path);
	unlink(states);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *count, char ***args)
{
	struct states_waiter waiter = { .pause = { .take = take_no_pause, .period_ns = UINT64_MAX / 2 } };

	(void)count, (void)args;
	fail_set_sink(ignore);
	expect(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/t.pinch", directory);
	snprintf(states, sizeof(states), "%s.states", path);
	write_trace();
	viewer = viewer_new(&(struct viewer_options){ .path = path, .name = "t.pinch" });
	expect(!viewer_load(viewer, &waiter, false));
	pair = viewer_pair_new(&(struct viewer_sides){ viewer, viewer, path, path, false });
	atexit(clean_up);
	return 0;
}

static void check(const struct reply *reply)
{
	json_error_t error;
	json_t *json;

	if (reply->status == 204) {
		expect(!reply->body.length);
		return;
	}
	if (reply->status != 200) {
		expect(reply->body.length &&
		       strchr(reply->body.bytes, '\n') == reply->body.bytes + reply->body.length - 1);
		return;
	}
	if (strcmp(reply->type, "application/json") != 0)
		return;
	json = json_loadb(reply->body.bytes, reply->body.length, JSON_REJECT_DUPLICATES, &error);
	expect(json);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char request[REQUEST_BYTES_MAX], *query, *body;
	struct request asked = { .path = request, .query = "" };
	struct reply reply = { .status = 200, .type = "application/json", .fd = -1 };

	if (size >= sizeof(request))
		return 0;
	memcpy(request, bytes, size);
	request[size] = '\0';
	body = memchr(request, '\n', size);
	if (body) {
		*body++ = '\0';
		asked.is_post = true;
		asked.body = body;
		asked.body_bytes = request + size - body;
	}
	query = strchr(request, '?');
	if (query) {
		*query++ = '\0';
		asked.query = query;
	}
	viewer_pair_answer(pair, &asked, &reply);
	check(&reply);
	text_fini(&reply.body);
	if (reply.fd >= 0)
		close(reply.fd);
	return 0;
}
