/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes at both ends of a scope. What a client sends does not get it a trace without the token; whatever it
 * does, the bytes that it has at the end are a trace without damage. What a reader writes is what came, if that begins
 * as a trace does, or nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fail.h"
#include "input.h"
#include "scope/chunk_log.h"
#include "scope/client.h"
#include "scope/connection.h"
#include "scope/receiver.h"
#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_pack.h"
#include "trace/trace_reader.h"

enum { LOG_BYTES = 20000, STEPS_MAX = 200, TAKEN_BYTES = 1 << 16, STEP_NS = 1000000 };

static const char token[] = "0123456789abcdef";

static void expect(bool is_so)
{
	if (!is_so)
		abort();
}

static void say_nothing(const char *line)
{
	(void)line;
}

/* --- A client --------------------------------------------------------------------------------- */

static struct {
	struct chunk_log *log;
	struct trace_packer packer;
	struct client_setting setting;
	struct client *client;
	int fd, file; /* the other end, and what came there */
	char sent[1 << 16];
	size_t sent_count;
	uint64_t now_ns;
} stage;

static void put_forms(void *data, struct client *client)
{
	struct trace_chunk chunk = { .kind = TRACE_CHUNK_FORMS };
	struct trace_form forms[EVENT_IDS];
	struct event_forms here;
	size_t count = 0;

	(void)data;
	event_forms_here(&here);
	for (unsigned int id = 0; id < EVENT_IDS; id++)
		if (here.of[id].size_bytes)
			forms[count++] = (struct trace_form){ id / EVENTS_MAX, id % EVENTS_MAX, here.of[id].size_bytes,
							      here.of[id].is_flexible, 0 };
	client_put(client, &chunk, trace_pack(&stage.packer, &chunk, forms, count * sizeof(*forms)));
}

/* A chunk of some events, without a kind. */
static struct trace_chunk make_chunk(size_t count, const void **stored)
{
	static struct event_encoder *encoder;
	struct trace_chunk chunk = { .count = count, .first_ns = stage.now_ns + 1 };
	struct ev_sched_wake event = { .header = { .subsys = EV_SCHED_WAKE >> 16, .event = EV_SCHED_WAKE & 0xffff } };
	size_t size_bytes;
	const void *bytes;

	if (!encoder)
		encoder = event_encoder_new();
	event_encoder_reset(encoder);
	for (size_t i = 0; i < count; i++) {
		event.header.time_ns = ++stage.now_ns;
		event.header.thread = 1 + i;
		event_encoder_add(encoder, &event.header);
	}
	chunk.last_ns = stage.now_ns;
	bytes = event_encoder_bytes(encoder, &size_bytes);
	*stored = trace_pack(&stage.packer, &chunk, bytes, size_bytes);
	return chunk;
}

static void begin(void)
{
	const void *stored;
	struct trace_chunk chunk;

	if (client_phase(stage.client) != CLIENT_WAITS)
		return;
	client_begin(stage.client, stage.now_ns);
	chunk = make_chunk(1, &stored);
	chunk.kind = TRACE_CHUNK_PROLOGUE;
	chunk.flags = TRACE_CHUNK_BEGINS | TRACE_CHUNK_HAS_PROLOGUE;
	client_put_beginning(stage.client, &chunk, NULL, stored);
	client_follow(stage.client);
}

static void log_events(size_t count)
{
	const void *stored;
	struct trace_chunk chunk = make_chunk(count, &stored);

	chunk.kind = TRACE_CHUNK_EVENTS;
	chunk_log_add(stage.log, &chunk, NULL, stored);
}

/* False: there is nothing. */
static bool take_sent(size_t size_bytes)
{
	static char bytes[TAKEN_BYTES];
	ssize_t n = recv(stage.fd, bytes, size_bytes, MSG_DONTWAIT);

	if (n > 0)
		expect(write(stage.file, bytes, n) == n);
	return n > 0;
}

static void send_bytes(struct input *input)
{
	char bytes[256];
	size_t count = take_number(input, 1);

	take(input, bytes, count);
	if (count && send(stage.fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)count &&
	    stage.sent_count + count < sizeof(stage.sent)) {
		memcpy(stage.sent + stage.sent_count, bytes, count);
		stage.sent_count += count;
	}
}

static void end_if_wanted(void)
{
	if (!client_wants_end(stage.client))
		return;
	client_end(stage.client, NULL);
	client_close(stage.client, stage.now_ns);
}

static void act(struct input *input)
{
	switch (take_number(input, 1) % 8) {
	case 0:
		send_bytes(input);
		break;
	case 1:
		begin();
		break;
	case 2:
		log_events(1 + take_number(input, 1) * 16);
		break;
	case 3:
		take_sent(1 + take_number(input, 2));
		break;
	case 4:
		end_if_wanted();
		break;
	case 5:
		shutdown(stage.fd, SHUT_WR);
		break;
	case 6:
		send(stage.fd, "token 0123456789abcdef\n", 23, MSG_DONTWAIT | MSG_NOSIGNAL);
		memcpy(stage.sent, token, sizeof(token));
		stage.sent_count = sizeof(token);
		break;
	}
	stage.now_ns += STEP_NS;
	if (client_phase(stage.client) != CLIENT_GONE)
		client_step(stage.client, stage.now_ns);
}

static void check_trace(bool has_ended)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	struct stat status;
	char path[64];
	int got;

	expect(!fstat(stage.file, &status));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", stage.file);
	if (!status.st_size || trace_reader_open(path, &reader))
		return;
	expect(memmem(stage.sent, stage.sent_count, token, sizeof(token) - 1));
	while ((got = trace_reader_next(reader, &header)))
		expect(got == 1);
	expect(!has_ended || (trace_reader_extent(reader)->is_ended && !trace_reader_extent(reader)->unread_bytes));
	trace_reader_close(reader);
}

static void try_client(struct input *input)
{
	bool has_ended = false;
	int fds[2];

	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) && !trace_packer_init(&stage.packer));
	stage.log = chunk_log_new(LOG_BYTES);
	stage.setting = (struct client_setting){
		.log = stage.log, .packer = &stage.packer, .token = token, .put_first = put_forms
	};
	stage.fd = fds[0];
	stage.file = memfd_create("trace", MFD_CLOEXEC);
	stage.now_ns = 1000000000;
	stage.sent_count = 0;
	stage.client = client_new(&stage.setting, connection_new(fds[1], NULL), false, stage.now_ns);
	for (int i = 0; i < STEPS_MAX && input->size && client_phase(stage.client) != CLIENT_GONE; i++)
		act(input);
	stage.setting.has_ended = true;
	if (client_phase(stage.client) != CLIENT_GONE && client_phase(stage.client) != CLIENT_LEAVES) {
		if (!client_is_ending(stage.client))
			client_end(stage.client, NULL);
		client_close(stage.client, stage.now_ns);
	}
	for (int i = 0; i < STEPS_MAX && client_phase(stage.client) != CLIENT_GONE; i++) {
		has_ended |= client_phase(stage.client) == CLIENT_LEAVES;
		client_step(stage.client, stage.now_ns);
		take_sent(TAKEN_BYTES);
	}
	client_free(stage.client);
	while (take_sent(TAKEN_BYTES))
		;
	check_trace(has_ended);
	close(stage.fd);
	close(stage.file);
	chunk_log_free(stage.log);
	trace_packer_fini(&stage.packer);
}

/* --- A reader --------------------------------------------------------------------------------- */

static int listen_fd = -1;
static char socket_path[64];

static void open_listener(void)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };

	if (listen_fd >= 0)
		return;
	snprintf(socket_path, sizeof(socket_path), "/tmp/scope_fuzz.%d", getpid());
	snprintf(place.sun_path, sizeof(place.sun_path), "%s", socket_path);
	listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	expect(!bind(listen_fd, (struct sockaddr *)&place, sizeof(place)) && !listen(listen_fd, 1));
}

static void close_listener(void)
{
	if (listen_fd >= 0)
		unlink(socket_path);
}

/* In two parts. */
static void *serve(void *data)
{
	const struct input *input = data;
	size_t first = input->size / 2;
	int fd = accept(listen_fd, NULL, NULL);

	if (send(fd, input->bytes, first, MSG_NOSIGNAL) >= 0)
		send(fd, input->bytes + first, input->size - first, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static void try_reader(struct input *input)
{
	bool is_trace = input->size >= 8 && !memcmp(input->bytes, TRACE_MAGIC, 8);
	int err, file = memfd_create("received", MFD_CLOEXEC);
	struct receiver_options options = { .is_quiet = true };
	struct stat status;
	pthread_t server;
	char address[80];
	void *came;

	open_listener();
	expect(!pthread_create(&server, NULL, serve, input));
	snprintf(address, sizeof(address), "unix:%s", socket_path);
	options.address = address;
	err = receiver_run(&options, file);
	expect(!pthread_join(server, NULL));
	expect(!fstat(file, &status));
	expect(is_trace ? !err && (size_t)status.st_size == input->size : err && !status.st_size);
	if (is_trace) {
		came = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		expect(came != MAP_FAILED && !memcmp(came, input->bytes, input->size));
		munmap(came, status.st_size);
	}
	close(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	fail_set_sink(say_nothing);
	atexit(close_listener);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (take_number(&input, 1) % 8)
		try_client(&input);
	else
		try_reader(&input);
	return 0;
}
