/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel hides from tracers: a switch from such a thread comes without a word. */
#include "test.h"
#include "world.h"

static struct world world;
static struct world_task *thread;            /* traced */
static struct world_task *hidden, *stranger; /* not traced */

enum { BEGIN_NS = 1000000, HIDDEN_NS = 5000, CPU = 1 };

static void begin(void)
{
	struct world_options options = { .cpu_count = 2, .begin_ns = BEGIN_NS };

	world_init(&world, &options);
	thread = world_add_task(&world, NULL);
	hidden = world_add_task(&world, NULL);
	stranger = world_add_task(&world, NULL);
	shim_set_target(thread->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, thread);
	while (shim_read(&rings, CPU, NULL))
		;
}

static void end(void)
{
	CHECK(!shim_records_open());
	world_fini(&world);
}

/* A switch that the kernel reports, so much later than the last one. */
static void emit(struct world_task *prev, struct world_task *next, uint64_t later_ns)
{
	shim_now_ns += later_ns;
	shim_cpu = CPU;
	shim_current = &prev->task;
	prev->task.se.cfs_rq = shim_queue(CPU);
	sched_switch(NULL, true, &prev->task, &next->task, 0);
}

static const struct ev_header *next_record(uint16_t event)
{
	const struct ev_header *header;

	while ((header = shim_read(&rings, CPU, NULL)))
		if (!header->subsys && header->event == event)
			break;
	return header;
}

/* The next record is that, or none. */
static bool is_hidden_recorded(uint64_t *time_ns, uint64_t *begin_ns)
{
	const struct ev_sched_hidden *e = (const void *)next_record(TRACE_EVENT_SCHED_HIDDEN);

	if (!e)
		return false;
	CHECK_EQUAL(e->tid, (uint32_t)hidden->task.pid);
	CHECK_EQUAL(e->cpu, CPU);
	*time_ns = e->header.time_ns;
	*begin_ns = e->begin_ns;
	return true;
}

TEST(that_a_cpu_had_a_hidden_thread_is_recorded_before_the_switch_that_shows_it)
{
	uint64_t time_ns, begin_ns, recorded_ns;
	const struct ev_sched_switch *e;

	begin();
	cpu_counts[CPU].hidden_process = hidden->task.tgid;
	emit(thread, hidden, 100);
	e = (const void *)next_record(TRACE_EVENT_SCHED_SWITCH);
	CHECK(e && !(e->flags & SWITCH_AFTER_HIDDEN));
	recorded_ns = e->header.time_ns;
	emit(&world.idle[CPU], thread, HIDDEN_NS);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns));
	CHECK_THAT(begin_ns, >, recorded_ns - 100);
	CHECK_THAT(begin_ns, <=, recorded_ns);
	CHECK_THAT(time_ns, >=, recorded_ns + HIDDEN_NS);
	e = (const void *)next_record(TRACE_EVENT_SCHED_SWITCH);
	CHECK(e && e->next);
	CHECK_THAT(e->header.time_ns, >=, time_ns);
	CHECK(e->flags & SWITCH_AFTER_HIDDEN);
	CHECK_EQUAL(cpu_counts[CPU].hidden, 1);
	end();
}

TEST(since_when_is_known_from_the_second_switch_to_a_process_on)
{
	uint64_t time_ns, begin_ns, before_ns;

	begin();
	emit(thread, hidden, 100);
	emit(&world.idle[CPU], hidden, 200);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns) && !begin_ns);
	CHECK_EQUAL(cpu_counts[CPU].hidden, 1);
	before_ns = time_ns;
	emit(&world.idle[CPU], hidden, 300);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns));
	CHECK_THAT(begin_ns, >=, before_ns);
	CHECK_THAT(begin_ns, <, time_ns - 200);
	before_ns = time_ns;
	hidden->task.pid++; /* another thread of it */
	emit(&world.idle[CPU], hidden, 400);
	CHECK_THAT(next_record(TRACE_EVENT_SCHED_HIDDEN), !=, NULL);
	emit(&world.idle[CPU], thread, 500);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns));
	CHECK_THAT(begin_ns, >=, before_ns);
	CHECK_THAT(begin_ns, <, time_ns - 400);
	hidden->task.pid--;
	end();
}

TEST(it_is_recorded_between_others_too)
{
	uint64_t time_ns, begin_ns;

	begin();
	cpu_counts[CPU].hidden_process = hidden->task.tgid;
	emit(&world.idle[CPU], hidden, 100);
	emit(stranger, &world.idle[CPU], 200);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns) && begin_ns);
	CHECK_THAT(begin_ns, <=, time_ns - 200);
	CHECK(!next_record(TRACE_EVENT_SCHED_SWITCH));
	end();
}

TEST(since_when_another_process_had_the_cpu_is_not_known)
{
	uint64_t time_ns, begin_ns;

	begin();
	cpu_counts[CPU].hidden_process = hidden->task.tgid;
	emit(&world.idle[CPU], hidden, 100);
	emit(hidden, stranger, 100);
	emit(&world.idle[CPU], hidden, 100);
	CHECK_THAT(next_record(TRACE_EVENT_SCHED_HIDDEN), !=, NULL);
	CHECK_EQUAL(cpu_counts[CPU].hidden, 1);
	emit(stranger, hidden, 100);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns) && !begin_ns);
	end();
}

TEST(who_got_the_cpu_before_tracing_is_not_known_and_who_leaves_it_with_a_word_is_not_hidden)
{
	begin();
	emit(stranger, thread, 100);
	emit(thread, &world.idle[CPU], 100);
	emit(&world.idle[CPU], hidden, 100);
	emit(hidden, stranger, 100);
	CHECK(!next_record(TRACE_EVENT_SCHED_HIDDEN) && !cpu_counts[CPU].hidden);
	end();
}

static void sample(struct world_task *of, uint64_t later_ns)
{
	struct bpf_perf_event_data ctx = { .regs.ip = 0x401234 };

	shim_now_ns += later_ns;
	shim_cpu = CPU;
	shim_current = &of->task;
	sample_timer(&ctx);
}

TEST(a_sample_shows_that_a_thread_has_its_cpu_again)
{
	uint64_t time_ns, begin_ns, returned_ns;
	const struct ev_sched_switch *e;

	begin();
	shim_make_ring(&sample_rings, CPU, 4096);
	emit(&world.idle[CPU], thread, 100);
	emit(thread, hidden, 100);
	while (next_record(TRACE_EVENT_SCHED_SWITCH))
		;
	sample(thread, HIDDEN_NS);
	CHECK(is_hidden_recorded(&time_ns, &begin_ns));
	e = (const void *)next_record(TRACE_EVENT_SCHED_SWITCH);
	CHECK(e && !e->header.thread && e->next && e->flags == SWITCH_AFTER_HIDDEN);
	CHECK_EQUAL(e->value, (uint64_t)hidden->task.pid);
	CHECK_EQUAL(e->cpu, CPU);
	returned_ns = e->header.time_ns;
	CHECK_THAT(returned_ns, >=, time_ns);
	sample(thread, 100);
	CHECK(!next_record(TRACE_EVENT_SCHED_SWITCH));
	emit(thread, &world.idle[CPU], 100);
	e = (const void *)next_record(TRACE_EVENT_SCHED_SWITCH);
	CHECK(e && e->header.thread && !(e->flags & SWITCH_AFTER_HIDDEN));
	CHECK_EQUAL(cpu_counts[CPU].hidden, 1);
	end();
}

TEST(a_sample_of_who_is_on_its_cpu_says_nothing_of_hidden_ones)
{
	begin();
	shim_make_ring(&sample_rings, CPU, 4096);
	sample(thread, 100);
	emit(thread, &world.idle[CPU], 100);
	emit(&world.idle[CPU], thread, 100);
	sample(thread, 100);
	CHECK(!next_record(TRACE_EVENT_SCHED_HIDDEN) && !cpu_counts[CPU].hidden);
	end();
}
