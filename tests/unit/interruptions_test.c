/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts within each other and requests to disks beside each other, against a table with a row for
 * each nanosecond.
 */
#include "test.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"
#include "states/activity.h"
#include "states/interruptions.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

enum { BEGIN = 100000, LENGTH = 2000, CPUS = 2, SEEDS = 1000, REQUESTS = 200, ISSUERS = 5, NOBODY = -1 };

static struct {
	uint32_t seed, random;
	struct session *session;
	struct trace_writer *writer;
	struct activity_log *log;
	struct trace_reader *reader;
	struct activities *activities;
	char path[64];
	int interrupt[CPUS][LENGTH];   /* kind * 100 + number, or NOBODY */
	int requests[ISSUERS][LENGTH]; /* under way */
	struct recorded {
		uint64_t time_ns;
		size_t order;
		const struct ev_header *header;
	} recorded[4 * REQUESTS];
	size_t recorded_count;
	struct ev_system_interrupt interrupts[REQUESTS];
	struct ev_system_softirq softirqs[REQUESTS];
	struct ev_system_block_issue issues[REQUESTS];
	struct ev_system_block_complete completes[REQUESTS];
	size_t interrupt_count, softirq_count, issue_count;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t thread)
{
	return (struct ev_header){
		.subsys = id >> 16,
		.event = id & 0xffff,
		.time_ns = time_ns,
		.thread = thread,
	};
}

static void emit(const struct ev_header *header)
{
	w.recorded[w.recorded_count] = (struct recorded){ header->time_ns, w.recorded_count, header };
	w.recorded_count++;
}

static int by_time(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void paint(int *row, uint64_t begin, uint64_t end, int value)
{
	for (uint64_t i = begin; i < end; i++)
		row[i] = value;
}

/* A softirq, and in it perhaps some interrupts, which end before it does. */
static void make_softirq(uint32_t cpu, uint64_t begin, uint64_t end)
{
	struct ev_system_softirq *e = &w.softirqs[w.softirq_count++];
	uint64_t at = begin;

	*e = (struct ev_system_softirq){
		.header = header_of(EV_SYSTEM_SOFTIRQ, BEGIN + end, 0),
		.begin_ns = BEGIN + begin,
		.cpu = cpu,
		.vector = pick(10),
	};
	paint(w.interrupt[cpu], begin, end, ACTIVITY_SOFTIRQ * 100 + e->vector);
	while (pick(3) && at + 2 < end) {
		struct ev_system_interrupt *inner = &w.interrupts[w.interrupt_count++];
		uint64_t from = at + pick(end - at - 1), to = from + 1 + pick(end - from - 1);

		*inner = (struct ev_system_interrupt){
			.header = header_of(EV_SYSTEM_INTERRUPT, BEGIN + to, 0),
			.begin_ns = BEGIN + from,
			.irq = pick(20),
			.cpu = cpu,
			.name = "eth0",
		};
		paint(w.interrupt[cpu], from, to, ACTIVITY_INTERRUPT * 100 + inner->irq);
		emit(&inner->header);
		at = to;
	}
	emit(&e->header);
}

static void make_request(void)
{
	uint64_t begin = pick(LENGTH - 1), end = begin + 1 + pick(LENGTH - begin - 1);
	uint32_t issuer = pick(ISSUERS), thread = issuer < 3 ? 1 + issuer : 0;
	size_t i = w.issue_count++;

	w.issues[i] = (struct ev_system_block_issue){
		.header = header_of(EV_SYSTEM_BLOCK_ISSUE, BEGIN + begin, thread),
		.request = i + 1,
		.tid = 50 + issuer,
		.bytes = 4096,
	};
	w.completes[i] = (struct ev_system_block_complete){
		.header = header_of(EV_SYSTEM_BLOCK_COMPLETE, BEGIN + end, 0),
		.request = i + 1,
		.bytes = 4096,
		.is_last = 1,
	};
	emit(&w.issues[i].header);
	emit(&w.completes[i].header);
	for (uint64_t at = begin; at < end; at++)
		w.requests[issuer][at]++;
}

static void play(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.seed = w.random = seed;
	memset(w.interrupt, 0xff, sizeof(w.interrupt));
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (uint64_t at = pick(100); at + 10 < LENGTH; at += 1 + pick(200)) {
			uint64_t end = at + 1 + pick(LENGTH - at - 1 < 80 ? LENGTH - at - 1 : 80);

			if (w.softirq_count == REQUESTS || w.interrupt_count > REQUESTS - 50)
				break;
			make_softirq(cpu, at, end);
			at = end;
		}
	for (uint32_t i = pick(20); i; i--)
		make_request();
	snprintf(w.path, sizeof(w.path), TEST_OUTPUT "/interruptions_test.%d", (int)getpid());
	w.session = session_new(1, 1 << 20);
	CHECK_EQUAL(trace_writer_open(w.path, &w.writer), 0);
	w.log = activity_log_new(w.session, w.writer);
	qsort(w.recorded, w.recorded_count, sizeof(*w.recorded), by_time);
	for (size_t i = 0; i < w.recorded_count; i++)
		session_hand_out(w.session, w.recorded[i].header);
	activity_log_finish(w.log, BEGIN + LENGTH);
	CHECK_EQUAL(trace_writer_close(w.writer), 0);
	CHECK_EQUAL(trace_reader_open(w.path, &w.reader), 0);
	w.activities = activities_new(w.reader);
}

static void end(void)
{
	activities_free(w.activities);
	trace_reader_close(w.reader);
	activity_log_free(w.log);
	session_free(w.session);
	unlink(w.path);
}

#define CHECK_SEED(condition)                                        \
	do {                                                         \
		if (!(condition))                                    \
			fail_msg("seed %u: %s", w.seed, #condition); \
	} while (0)

static void check_interruptions(uint32_t cpu, uint64_t from, uint64_t to)
{
	size_t count;
	struct interruption *parts = interruptions_of(w.activities, cpu, BEGIN + from, BEGIN + to, &count);
	uint64_t at = from;

	for (size_t i = 0; i < count; i++) {
		uint64_t begin = parts[i].begin_ns - BEGIN, last = parts[i].end_ns - BEGIN;

		CHECK_SEED(begin >= at && begin < last && last <= to);
		for (; at < begin; at++)
			CHECK_SEED(w.interrupt[cpu][at] == NOBODY);
		for (; at < last; at++)
			CHECK_SEED(w.interrupt[cpu][at] == (int)(parts[i].kind * 100 + parts[i].number));
	}
	for (; at < to; at++)
		CHECK_SEED(w.interrupt[cpu][at] == NOBODY);
	free(parts);
}

/* What divisions leave goes to somebody, at most one each time that the sharers change. */
static void check_use(const struct disk_use *use)
{
	uint32_t issuer = use->tid - 50;
	double expected = 0;

	CHECK_SEED(issuer < ISSUERS && use->thread == (issuer < 3 ? 1 + issuer : 0));
	CHECK_SEED(use->begin_ns <= use->end_ns && use->ns <= use->end_ns - use->begin_ns);
	for (uint64_t at = use->begin_ns - BEGIN; at < use->end_ns - BEGIN; at++) {
		int all = 0;

		for (uint32_t i = 0; i < ISSUERS; i++)
			all += w.requests[i][at];
		CHECK_SEED(w.requests[issuer][at]);
		expected += (double)w.requests[issuer][at] / all;
	}
	CHECK_SEED(fabs(use->ns - expected) <= 2 * w.issue_count + 1);
}

static void check_disk(uint64_t from, uint64_t to)
{
	uint64_t idle_ns, idle = 0, sum = 0, used[ISSUERS] = { 0 };
	size_t count;
	struct disk_use *uses = disk_uses_of(w.activities, BEGIN + from, BEGIN + to, &count, &idle_ns);

	for (size_t i = 0; i < count; i++) {
		CHECK_SEED(uses[i].begin_ns >= BEGIN + from && uses[i].end_ns <= BEGIN + to);
		CHECK_SEED(!i || uses[i].begin_ns >= uses[i - 1].begin_ns);
		check_use(&uses[i]);
		used[uses[i].tid - 50] += uses[i].end_ns - uses[i].begin_ns;
		sum += uses[i].ns;
	}
	for (uint64_t at = from; at < to; at++) {
		int all = 0;

		for (uint32_t i = 0; i < ISSUERS; i++) {
			all += w.requests[i][at];
			used[i] -= !!w.requests[i][at];
		}
		idle += !all;
	}
	for (uint32_t i = 0; i < ISSUERS; i++)
		CHECK_SEED(!used[i]);
	CHECK_SEED(idle == idle_ns);
	CHECK_SEED(sum + idle_ns == to - from);
	free(uses);
}

TEST(interrupts_and_requests_are_as_each_nanosecond_says)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		play(seed);
		for (uint32_t i = 0; i < 10; i++) {
			uint64_t from = pick(LENGTH - 1), to = from + 1 + pick(LENGTH - from - 1);

			check_interruptions(pick(CPUS), from, to);
			check_disk(from, to);
		}
		check_interruptions(0, 0, LENGTH);
		check_disk(0, LENGTH);
		end();
	}
}
