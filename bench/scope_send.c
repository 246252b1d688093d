// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scope_send TRACE CLIENTS
 * Sends the events of a trace through a scope to so many clients on the loopback interface, each a process that reads
 * all and keeps nothing, as fast as none of them loses any. Prints, as JSON, the bytes that arrived, the events, the
 * seconds, and the seconds of CPU that the scope took, encoding and compressing included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "scope/scope.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum { CLIENTS_MAX = 32, BEHIND_BYTES_MAX = 4 << 20, BYTES_AT_ONCE = 256 << 10, WAIT_MS = 10, STEP_EVENTS = 4096 };

/* Reads to the end. */
static void receive(const char *address)
{
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char *bytes = malloc(BYTES_AT_ONCE);

	place.sin_port = htons(atoi(strrchr(address, ':') + 1));
	if (!bytes || connect(fd, (struct sockaddr *)&place, sizeof(place)))
		_exit(1);
	while (read(fd, bytes, BYTES_AT_ONCE) > 0)
		;
	_exit(0);
}

static void wait_for_space(struct scope *scope, uint64_t made_bytes, size_t clients)
{
	struct pollfd fd = { .fd = scope_poll_fd(scope), .events = POLLIN };

	scope_step(scope, clock_ns());
	while (made_bytes * clients > scope_counts(scope).bytes + clients * (uint64_t)BEHIND_BYTES_MAX) {
		poll(&fd, 1, WAIT_MS);
		scope_step(scope, clock_ns());
	}
}

static void let_in(struct scope *scope, const char *address, size_t clients)
{
	for (size_t i = 0; i < clients; i++)
		if (!fork())
			receive(address);
	while (scope_client_count(scope) < clients)
		scope_step(scope, clock_ns());
}

static void begin(const struct recorder_stream *stream, struct trace_writer *writer, const struct ev_header *first)
{
	trace_writer_begin_epoch(writer);
	stream->begin(stream->sink.data, first->time_ns);
	trace_writer_repeat(writer, first);
	trace_writer_end_prologue(writer);
}

static void give_none(void *data, uint64_t begin_ns, void (*put)(void *data, const void *names, size_t size_bytes),
		      void *put_data)
{
	(void)data, (void)begin_ns, (void)put, (void)put_data;
}

static uint64_t send_events(struct trace_reader *reader, struct scope *scope, size_t clients)
{
	const struct recorder_stream *stream = scope_stream(scope);
	const struct scope_names names = { give_none, NULL };
	const struct ev_header *header;
	struct trace_writer *writer;
	uint64_t count = 0;

	if (trace_writer_begin_sink(&stream->sink, &writer) || trace_reader_next(reader, &header) != 1)
		exit(1);
	let_in(scope, scope_address(scope), clients);
	begin(stream, writer, header);
	do {
		trace_writer_event(writer, header);
		if (++count % STEP_EVENTS == 0)
			wait_for_space(scope, trace_writer_counts(writer).file_bytes, clients);
	} while (trace_reader_next(reader, &header) == 1);
	trace_writer_close(writer);
	scope_finish(scope, &names);
	return count;
}

int main(int argc, char **argv)
{
	const struct scope_options options = { .address = "127.0.0.1:0" };
	size_t clients = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct trace_reader *reader;
	struct scope *scope;
	uint64_t begin_ns, cpu_ns, count;

	if (!clients || clients > CLIENTS_MAX)
		return fail_plain(2, "usage: scope_send TRACE CLIENTS (1 to %d)", CLIENTS_MAX);
	if (trace_reader_open(argv[1], &reader) || scope_open(&options, &scope))
		return fail_plain(1, "cannot read %s", argv[1]);
	begin_ns = clock_ns();
	cpu_ns = clock_cpu_ns();
	count = send_events(reader, scope, clients);
	printf("{\"bytes\":%llu,\"events\":%llu,\"lost\":%llu,\"s\":%.6f,\"cpu_s\":%.6f}\n",
	       (unsigned long long)scope_counts(scope).bytes, (unsigned long long)count,
	       (unsigned long long)scope_counts(scope).events_lost, (clock_ns() - begin_ns) / 1e9,
	       (clock_cpu_ns() - cpu_ns) / 1e9);
	scope_close(scope);
	trace_reader_close(reader);
	while (wait(NULL) > 0)
		;
	return 0;
}
