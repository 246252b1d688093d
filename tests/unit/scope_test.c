/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What clients of a scope get, each as fast as it reads: all events from when it came, or all but those of which it is
 * told that it lost them; and what events refer to before they come.
 */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/recorder.h"
#include "scope/scope.h"
#include "session/session.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

enum { PAYLOAD_BYTES = 4000, SCHEMA = 7, CLIENTS_MAX = 24 };

static struct {
	struct engine engine;
	struct recorder *recorder;
	struct scope *scope;
	uint64_t now_ns;   /* of events */
	uint64_t clock_ns; /* of the scope */
	uint32_t count;    /* of EVENTs */
	char socket[128];
} stage;

static struct ev_header header_of(enum event_id id)
{
	return (struct ev_header){ .time_ns = ++stage.now_ns, .subsys = id >> 16, .event = id & 0xffff };
}

static void put_run(void)
{
	struct {
		struct ev_collect_run e;
		char text[8];
	} run = { { .text_bytes = sizeof(run.text), .cpu_count = 2 }, "c\0h\0k" };

	run.e.header = header_of(EV_COLLECT_RUN);
	session_hand_out(stage.engine.session, &run.e.header);
}

static void put_schema(void)
{
	struct {
		struct ev_user_schema e;
		char text[8];
	} schema = { { .schema = SCHEMA, .text_bytes = sizeof(schema.text) }, "{}" };

	schema.e.header = header_of(EV_USER_SCHEMA);
	session_hand_out(stage.engine.session, &schema.e.header);
}

/* Their payloads cannot be compressed. */
static void put_events(size_t count)
{
	static struct {
		struct ev_user_event e;
		uint64_t payload[PAYLOAD_BYTES / 8];
	} event;

	for (size_t i = 0; i < count; i++) {
		event.e = (struct ev_user_event){ .schema = SCHEMA, .payload_bytes = PAYLOAD_BYTES };
		event.e.header = header_of(EV_USER_EVENT);
		event.e.argument = stage.count++;
		for (size_t word = 0; word < PAYLOAD_BYTES / 8; word++)
			event.payload[word] = trace_draw();
		session_hand_out(stage.engine.session, &event.e.header);
	}
	recorder_flush(stage.recorder);
}

static void begin_stage(void)
{
	struct scope_options options = { .address = stage.socket };

	trace_begin();
	snprintf(stage.socket, sizeof(stage.socket), "unix:%s.s", trace_path);
	stage.now_ns = stage.clock_ns = 1000000000;
	stage.count = 0;
	CHECK(!engine_open(&stage.engine, &(struct engine_options){ .stream_count = 1, .is_offline = true }));
	CHECK(!scope_open(&options, &stage.scope));
	CHECK(!recorder_open_stream(&stage.engine, scope_stream(stage.scope), &stage.recorder));
	put_run();
	put_schema();
}

static void end_stage(void)
{
	recorder_close(stage.recorder);
	scope_close(stage.scope);
	engine_close(&stage.engine);
	trace_end();
}

/* --- Clients ---------------------------------------------------------------------------------- */

struct client_end {
	int fd;
	uint64_t came_bytes;
	char path[160];
	FILE *file;
	pthread_t thread;
	uint32_t first; /* of the EVENTs that it can get */
};

static void connect_client(struct client_end *client, unsigned int number)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };

	*client = (struct client_end){ .fd = socket(AF_UNIX, SOCK_STREAM, 0), .first = stage.count };
	memcpy(place.sun_path, stage.socket + 5, strlen(stage.socket + 5));
	CHECK(!connect(client->fd, (struct sockaddr *)&place, sizeof(place)));
	snprintf(client->path, sizeof(client->path), "%s.%u", trace_path, number);
	client->file = fopen(client->path, "w");
	CHECK(client->file);
}

static void serve(void)
{
	stage.clock_ns += 1000000000;
	scope_step(stage.scope, stage.clock_ns);
	recorder_serve(stage.recorder);
	scope_step(stage.scope, stage.clock_ns);
}

/* False: there is nothing for now. */
static bool take(struct client_end *client, int flags)
{
	static __thread char bytes[1 << 16];
	ssize_t n = recv(client->fd, bytes, sizeof(bytes), flags);

	if (n <= 0)
		return false;
	client->came_bytes += n;
	CHECK_EQUAL(fwrite(bytes, 1, n, client->file), n);
	return true;
}

/* All that there is for it, and all that comes because it took that. */
static void take_all(struct client_end *client)
{
	uint64_t before;

	do {
		before = client->came_bytes;
		serve();
		while (take(client, MSG_DONTWAIT))
			;
	} while (client->came_bytes > before);
}

static void *take_to_end(void *data)
{
	struct client_end *client = data;

	while (take(client, 0))
		;
	close(client->fd);
	return NULL;
}

static void give_none(void *data, uint64_t begin_ns, void (*put)(void *data, const void *names, size_t size_bytes),
		      void *put_data)
{
	(void)data, (void)begin_ns, (void)put, (void)put_data;
}

static void finish(struct client_end *clients, size_t count)
{
	const struct scope_names names = { give_none, NULL };
	struct trace_writer_counts counts;

	for (size_t i = 0; i < count; i++)
		CHECK(!pthread_create(&clients[i].thread, NULL, take_to_end, &clients[i]));
	scope_hurry(stage.scope);
	recorder_serve(stage.recorder);
	CHECK(!recorder_finish(stage.recorder, &counts));
	scope_finish(stage.scope, &names);
	for (size_t i = 0; i < count; i++) {
		CHECK(!pthread_join(clients[i].thread, NULL));
		CHECK(!fclose(clients[i].file));
	}
}

/* What it got is a trace without damage: each event from its first one to this one, in order, or a word of its loss. */
static uint64_t check_client_to(const struct client_end *client, uint32_t end)
{
	uint32_t expected = client->first;
	uint64_t lost_count = 0, since_gap = 0;
	bool has_schema = false, has_end = false;
	struct trace_reader *reader;
	const struct ev_header *header;
	int got;

	CHECK(!trace_reader_open(client->path, &reader));
	CHECK(trace_reader_extent(reader)->is_ended);
	CHECK_EQUAL(trace_reader_extent(reader)->unread_bytes, 0);
	while ((got = trace_reader_next(reader, &header))) {
		CHECK_EQUAL(got, 1);
		switch ((unsigned int)header->subsys << 16 | header->event) {
		case EV_USER_SCHEMA:
			has_schema = true;
			break;
		case EV_COLLECT_END:
			has_end = true;
			break;
		case EV_COLLECT_GAP:
			CHECK(!has_end);
			since_gap += ((const struct ev_collect_gap *)header)->lost;
			lost_count += ((const struct ev_collect_gap *)header)->lost;
			break;
		case EV_USER_EVENT:
			CHECK(has_schema);
			CHECK_EQUAL(((const struct ev_user_event *)header)->argument, expected + since_gap);
			expected += 1 + since_gap;
			since_gap = 0;
			break;
		}
	}
	CHECK_EQUAL(expected + since_gap, end);
	trace_reader_close(reader);
	CHECK(!unlink(client->path));
	return lost_count;
}

static uint64_t check_client(const struct client_end *client)
{
	return check_client_to(client, stage.count);
}

TEST(clients_that_come_one_after_the_other_get_all_from_then_on)
{
	struct client_end clients[CLIENTS_MAX];

	begin_stage();
	put_events(10);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		connect_client(&clients[i], i);
		serve();
		put_events(trace_below(5));
		for (unsigned int j = 0; j <= i; j++)
			if (trace_below(2))
				take_all(&clients[j]);
	}
	CHECK_EQUAL(scope_client_count(stage.scope), CLIENTS_MAX);
	finish(clients, CLIENTS_MAX);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		CHECK_EQUAL(check_client(&clients[i]), 0);
	CHECK_EQUAL(scope_counts(stage.scope).events_lost, 0);
	end_stage();
}

TEST(one_that_reads_nothing_for_long_is_told_what_it_lost_and_goes_on_and_others_lose_nothing)
{
	struct client_end clients[2];
	uint64_t lost_count;

	begin_stage();
	connect_client(&clients[0], 0);
	connect_client(&clients[1], 1);
	serve();
	for (int i = 0; i < 100; i++) {
		put_events(100);
		take_all(&clients[0]);
	}
	take_all(&clients[1]);
	for (int i = 0; i < 10; i++) {
		put_events(20);
		take_all(&clients[0]);
		take_all(&clients[1]);
	}
	finish(clients, 2);
	CHECK_EQUAL(check_client(&clients[0]), 0);
	lost_count = check_client(&clients[1]);
	CHECK_THAT(lost_count, >, 1000);
	CHECK_EQUAL(lost_count, scope_counts(stage.scope).events_lost);
	end_stage();
}

TEST(one_that_is_too_slow_again_and_again_is_told_each_time)
{
	struct client_end client;

	begin_stage();
	connect_client(&client, 0);
	serve();
	for (int i = 0; i < 4; i++) {
		put_events(6000);
		take_all(&client);
	}
	put_events(5000); /* it has not read when the end comes */
	finish(&client, 1);
	CHECK_THAT(check_client(&client), >, 4000);
	end_stage();
}

/* Of one that has taken all before the others end; returns what it lost. */
static uint64_t check_end(struct client_end *client, uint32_t end)
{
	CHECK(!fclose(client->file));
	close(client->fd);
	return check_client_to(client, end);
}

/* Their traces end here. */
static void end_those_who_want(void)
{
	const struct scope_names names = { give_none, NULL };
	struct ev_collect_end end = { .header = header_of(EV_COLLECT_END) };

	serve();
	CHECK(scope_wants_end(stage.scope, stage.clock_ns));
	scope_end_traces(stage.scope, &end.header, &names, stage.clock_ns);
}

TEST(one_that_asks_for_its_end_and_reads_it_late_is_told_what_it_lost)
{
	static const size_t later[] = { 0, 2000, 6000, 20000 };
	struct client_end client;
	uint32_t stop;

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		begin_stage();
		connect_client(&client, 0);
		serve();
		put_events(3000);
		CHECK_EQUAL(send(client.fd, "end\n", 4, 0), 4);
		end_those_who_want();
		stop = stage.count;
		put_events(later[i]);
		take_all(&client);
		CHECK_EQUAL(check_end(&client, stop) > 0, later[i] > 2000);
		end_stage();
	}
}

TEST(one_that_comes_when_no_descriptor_is_left_is_let_in_later_and_keeps_nobody_busy)
{
	struct pollfd door = { .events = POLLIN };
	struct rlimit before, none;
	struct client_end client;

	begin_stage();
	connect_client(&client, 0);
	door.fd = scope_poll_fd(stage.scope);
	CHECK_EQUAL(poll(&door, 1, 0), 1);
	CHECK(!getrlimit(RLIMIT_NOFILE, &before));
	none = (struct rlimit){ 3, before.rlim_max };
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	serve();
	CHECK(!setrlimit(RLIMIT_NOFILE, &before));
	CHECK_EQUAL(poll(&door, 1, 0), 0);
	CHECK_EQUAL(scope_client_count(stage.scope), 0);
	serve();
	CHECK_EQUAL(scope_client_count(stage.scope), 1);
	put_events(10);
	finish(&client, 1);
	CHECK_EQUAL(check_client(&client), 0);
	end_stage();
}

TEST(what_happens_while_nobody_listens_is_not_recorded)
{
	struct client_end client;

	begin_stage();
	put_events(1000);
	serve();
	connect_client(&client, 0);
	serve();
	put_events(10);
	finish(&client, 1);
	CHECK_EQUAL(check_client(&client), 0);
	CHECK_THAT(scope_counts(stage.scope).bytes, <, 200000);
	CHECK_EQUAL(scope_client_count(stage.scope), 0);
	end_stage();
}
