/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summaries of states in bursts and pauses, whatever levels of them are kept when: shares of any range are
 * what its states add up to.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account/measures/state_listener.h"
#include "session/session.h"
#include "session/threads.h"
#include "states/share_log.h"
#include "states/state_log.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"

enum { THREADS = 3, CHANGES = 500000, QUESTIONS = 100 };

static struct {
	uint64_t random, begin_ns, now_ns;
	bool is_active[THREADS];
	struct states *states;
} w;

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (w.random >> 33) % below;
}

static void change(const struct state_listener *listener, struct threads *threads)
{
	uint32_t i = pick(THREADS);
	struct ev_sched_switch e = { .state = SWITCH_SLEEPING, .syscall = 35 };

	w.is_active[i] = !w.is_active[i];
	listener->on_change(listener->data, &(struct state_change){
						    .thread = threads_get(threads, i + 1),
						    .time_ns = w.now_ns,
						    .cpu = i,
						    .phase = w.is_active[i] ? PHASE_RUNNING : PHASE_BLOCKED,
						    .out = w.is_active[i] ? NULL : &e,
					    });
}

/* Bursts in which the lowest level is worth keeping, and times in which hardly any is. */
static void live(const struct state_listener *listener, struct threads *threads)
{
	uint64_t phase_end_ns = 0, distance_ns = 1;

	for (int i = 0; i < CHANGES; i++) {
		if (w.now_ns >= phase_end_ns) {
			distance_ns = pick(2) ? 1 + pick(150) : 1 + pick(20000000);
			phase_end_ns = w.now_ns + pick(distance_ns <= 150 ? 900000000 : 9000000000);
			if (!pick(4))
				w.now_ns += pick(60000000000);
		}
		w.now_ns += pick(2 * distance_ns);
		change(listener, threads);
	}
}

static void make(const char *path, uint64_t seed)
{
	struct session *session = session_new(1, 1 << 20);
	struct threads *threads = threads_new(session);
	struct files *files = files_new(session, 0);
	struct others *others = others_new(session);
	struct trace_writer *writer;
	struct state_log *log;

	memset(&w, 0, sizeof(w));
	w.random = seed * 0x9e3779b97f4a7c15ull;
	w.now_ns = w.begin_ns = 1000000000 + pick(1000000000);
	CHECK_EQUAL(trace_writer_open(path, &writer), 0);
	log = state_log_new(writer, &(struct state_log_options){
					    .threads = threads,
					    .files = files,
					    .others = others,
				    });
	live(state_log_listener(log), threads);
	state_log_finish(log, w.now_ns);
	CHECK_EQUAL(trace_writer_close(writer), 0);
	state_log_free(log);
	others_free(others);
	files_free(files);
	threads_free(threads);
	session_free(session);
}

static void check_shares(uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns[SHARES] = { 0 }, expected[SHARES] = { 0 };
	struct state_walk walk;
	struct state state;

	states_add_shares(w.states, thread, from_ns, to_ns, ns);
	states_walk(w.states, thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		uint64_t begin_ns = state.begin_ns > from_ns ? state.begin_ns : from_ns;
		uint64_t end_ns = state.end_ns < to_ns ? state.end_ns : to_ns;

		expected[state_share(state.kind, state.value.why)] += end_ns - begin_ns;
	}
	assert_memory_equal(ns, expected, sizeof(ns));
}

static uint32_t levels_kept(void)
{
	size_t count;
	const struct trace_place *places = trace_reader_places(states_file(w.states), &count);
	uint32_t levels = 0;

	for (size_t i = 0; i < count; i++)
		if (places[i].kind == TRACE_CHUNK_STATE_SHARES)
			levels |= 1u << places[i].count;
	return levels;
}

TEST(shares_are_what_states_add_up_to)
{
	static const char path[] = TEST_OUTPUT "/share_log_test.states";
	uint32_t levels = 0;

	for (uint64_t seed = 1; seed <= 2; seed++) {
		make(path, seed);
		CHECK_EQUAL(states_open(path, &w.states), 0);
		for (int i = 0; i < QUESTIONS; i++) {
			uint64_t whole_ns = w.now_ns - w.begin_ns;
			uint64_t length_ns = whole_ns >> pick(20), from_ns;

			from_ns = w.begin_ns + pick(whole_ns - length_ns + 1);
			check_shares(1 + pick(THREADS), from_ns, from_ns + length_ns);
		}
		levels |= levels_kept();
		states_close(w.states);
		unlink(path);
	}
	/* The lowest one came back, and did not stay. */
	CHECK(levels & 1);
	CHECK(levels & ~0x3fu);
}

/* How many chunks the file has that a log of shares has written. */
static size_t chunks_of(void (*fill)(struct share_log *log))
{
	int fd = memfd_create("shares", MFD_CLOEXEC);
	const struct trace_place *places;
	struct trace_writer *writer;
	struct trace_reader *reader;
	size_t count, chunks = 0;
	struct share_log *log;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQUAL(trace_writer_open(path, &writer), 0);
	log = share_log_new(writer, TRACE_CHUNK_STATE_SHARES);
	fill(log);
	share_log_finish(log);
	share_log_free(log);
	CHECK_EQUAL(trace_writer_close(writer), 0);
	CHECK_EQUAL(trace_reader_open(path, &reader), 0);
	places = trace_reader_places(reader, &count);
	for (size_t i = 0; i < count; i++)
		chunks += places[i].kind == TRACE_CHUNK_STATE_SHARES;
	trace_reader_close(reader);
	close(fd);
	return chunks;
}

/* The cell in which the last moment of 64 bits is has no end that is a number. */
static void fill_late(struct share_log *log)
{
	struct share_thread thread = { .number = 1 };

	share_log_change(log, &thread, 1000000000000, 1);
	share_log_change(log, &thread, UINT64_MAX - 1000, 2);
	share_log_change(log, &thread, UINT64_MAX, 1);
	share_log_end(log, &thread, UINT64_MAX);
}

TEST(time_up_to_the_last_moment_of_64_bits_comes_to_an_end)
{
	alarm(20);
	chunks_of(fill_late);
	alarm(0);
}

enum { CROWD = 17000, TURNS = 300 };

static void fill_crowd(struct share_log *log, uint32_t count, uint32_t turns)
{
	struct share_thread *threads = calloc(count, sizeof(*threads));

	for (uint32_t turn = 0; turn < turns; turn++)
		for (uint32_t i = 0; i < count; i++) {
			threads[i].number = i + 1;
			share_log_change(log, &threads[i], 1 + turn * 1000ull, 1 + turn % 2);
		}
	for (uint32_t i = 0; i < count; i++) {
		share_log_end(log, &threads[i], 1 + turns * 1000ull);
		CHECK_EQUAL(threads[i].cells, NULL);
	}
	free(threads);
}

static void fill_few(struct share_log *log)
{
	fill_crowd(log, 10, CROWD * TURNS / 10);
}

static void fill_many(struct share_log *log)
{
	fill_crowd(log, CROWD, TURNS);
}

TEST(of_too_many_threads_there_are_no_summaries_rather_than_wrong_ones)
{
	CHECK(chunks_of(fill_few));
	CHECK_EQUAL(chunks_of(fill_many), 0);
}
