/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows in the middle of a trace: whose they are and where they happened, by the history of states and events before. */
#include "test.h"

#include "base/text.h"
#include "query/trace_states.h"
#include "rows/event_row.h"
#include "rows/event_rows.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"
#include "values.h"

enum { EVENTS = 3000, FLUSH_ONE_IN = 40, JUMPS = 200, CPUS = 4, CROWD = 40 };

static struct {
	uint32_t running[CPUS]; /* 0: nobody */
	int32_t cpu_of[CROWD + 1];
	int32_t cpus[2 * EVENTS]; /* of events */
	size_t count;
} machine;

static void put_event(struct trace_writer *writer, const struct ev_header *header, int32_t cpu)
{
	trace_writer_event(writer, header);
	machine.cpus[machine.count++] = cpu;
	if (!trace_below(FLUSH_ONE_IN))
		trace_writer_flush(writer, UINT64_MAX, 0);
}

static void put_born(struct trace_writer *writer, uint32_t thread)
{
	struct ev_thread_born e = {
		.header = { .time_ns = 1000 + thread,
			    .thread = thread,
			    .subsys = TRACE_SUBSYS_THREAD,
			    .event = TRACE_EVENT_THREAD_BORN },
		.tid = 100 + thread,
		.pid = 101 + (thread - 1) / 10 * 10,
		.name = "a\"<b>\\\x01",
	};

	e.name[7] = 'a' + thread % 26;
	machine.cpu_of[thread] = -1;
	put_event(writer, &e.header, -1);
}

static void put_switch(struct trace_writer *writer, uint64_t time_ns)
{
	uint32_t cpu = trace_below(CPUS), before = machine.running[cpu], next = trace_below(CROWD + 1);

	for (int i = 0; i < CPUS; i++)
		if (machine.running[i] == next)
			next = 0;
	machine.running[cpu] = next;
	machine.cpu_of[before] = machine.cpu_of[next] = cpu;
	put_event(writer,
		  &(struct ev_sched_switch){ .header = { .time_ns = time_ns,
							 .thread = before,
							 .subsys = TRACE_SUBSYS_SCHED,
							 .event = TRACE_EVENT_SCHED_SWITCH },
					     .next = next,
					     .state = SWITCH_RUNNABLE,
					     .cpu = cpu }
			   .header,
		  cpu);
}

/* It names no CPU: it is on that of its thread. */
static void put_lost(struct trace_writer *writer, uint64_t time_ns)
{
	uint32_t thread = 1 + trace_below(CROWD);

	put_event(writer,
		  &(struct ev_user_lost){ .header = { .time_ns = time_ns,
						      .thread = thread,
						      .subsys = TRACE_SUBSYS_USER,
						      .event = TRACE_EVENT_USER_LOST } }
			   .header,
		  machine.cpu_of[thread]);
}

static void write_machine(void)
{
	struct trace_writer *writer;
	uint64_t time_ns = 2000;

	memset(&machine, 0, sizeof(machine));
	CHECK(!trace_writer_open(trace_path, &writer));
	for (uint32_t thread = 1; thread <= CROWD; thread++)
		put_born(writer, thread);
	for (int i = 0; i < EVENTS; i++)
		if (trace_below(2))
			put_switch(writer, time_ns += 1 + trace_below(1000));
		else
			put_lost(writer, time_ns += 1 + trace_below(1000));
	CHECK(!trace_writer_close(writer));
}

static void check_place(const struct event_row *row)
{
	char name[] = "a\"<b>\\\x01?";

	CHECK_EQUAL(row->cpu, machine.cpus[row->row]);
	CHECK_STRING(row->host, "");
	name[7] = 'a' + row->thread % 26;
	CHECK_STRING(row->name, row->thread ? name : "");
	name[7] = 'a' + ((row->thread - 1) / 10 * 10 + 1) % 26;
	CHECK_STRING(row->process, row->thread ? name : "");
	CHECK_EQUAL(row->tid, row->thread ? 100 + row->thread : 0);
}

TEST(who_and_where_is_known_in_the_middle_of_a_trace)
{
	struct event_rows_options options = { 0 };
	struct trace_states states;
	const struct event_row *list;
	struct event_rows *rows;
	size_t got;

	trace_begin();
	trace_seed = 70;
	write_machine();
	CHECK(!trace_states_open_for_once(trace_path, false, &states));
	options.states = &states;
	CHECK(!event_rows_open(trace_path, &options, &rows));
	CHECK_EQUAL(event_rows_count(rows), machine.count);
	for (int i = 0; i < JUMPS; i++) {
		got = event_rows_get(rows, trace_below(machine.count), 3, &list);
		CHECK(got);
		while (got--)
			check_place(&list[got]);
	}
	event_rows_close(rows);
	trace_states_close(&states);
	trace_end();
}

TEST(json_escapes_what_programs_chose)
{
	struct event_rows_options options = { 0 };
	struct text json = { 0 };
	struct trace_states states;
	struct event_rows *rows;

	trace_begin();
	trace_seed = 71;
	write_machine();
	CHECK(!trace_states_open_for_once(trace_path, false, &states));
	options.states = &states;
	CHECK(!event_rows_open(trace_path, &options, &rows));
	event_rows_put_json(rows, 0, 1, NULL, &json);
	CHECK_STRING(
		json.bytes,
		"{\n  \"first\": 0,\n  \"events\": [\n    {\"row\": 0, \"time_ns\": 0, \"host\": \"\", \"cpu\": null, "
		"\"process\": \"a\\\"<b>\\\\\\u0001b\", \"thread\": 1, \"tid\": 101, "
		"\"name\": \"a\\\"<b>\\\\\\u0001b\", \"event\": \"thread.BORN\", "
		"\"text\": \"parent=0 tid=101 pid=101 ns_tid=0 ns_pid=0 is_outside=0 reserved=0 cpus_allowed=0 "
		"start_ns=0 name=\\\"a\\\\\\\"<b>\\\\\\\\\\\\x01b\\\"\"}\n  ],\n"
		"  \"rows\": 3040,\n  \"is_counted\": false\n}\n");
	event_rows_close(rows);
	trace_states_close(&states);
	text_fini(&json);
	trace_end();
}
