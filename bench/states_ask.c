// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * states_ask STATES [SECONDS [SEED]]				(1 s a kind of question, seed 1)
 * Asks a history of states random questions: what a thread did at a moment, what it and a CPU did in a range,
 * how much of what, and what a thread waited for. Each kind is asked warm, and cold: the file is dropped
 * from the page cache before, and opened again as a part of the answer. Prints as JSON how long answers took.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "states/states.h"

enum { ANSWERS_MAX = 10000, ANSWERS_MIN = 3, CPUS = 8 };

struct question {
	uint32_t thread, cpu;
	uint64_t from_ns, to_ns;
};

static struct {
	const char *path;
	struct states *states;
	uint64_t begin_ns, end_ns;
	uint32_t *threads;
	size_t thread_count, thread_capacity;
	uint64_t random;
	uint64_t answer; /* so that nothing is left out as useless */
} w;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint64_t)((unsigned __int128)(w.random ^ w.random >> 29) * below >> 64);
}

/* --- Questions ------------------------------------------------------------------------------ */

static void ask_open(const struct question *q)
{
	w.answer += q->thread;
}

static void ask_at(const struct question *q)
{
	struct state state;

	w.answer += states_at(w.states, q->thread, q->from_ns, &state);
}

static void ask_walk(const struct question *q)
{
	struct state_walk walk;
	struct state state;

	states_walk(w.states, q->thread, q->from_ns, q->to_ns, &walk);
	while (state_walk_next(&walk, &state))
		w.answer += state.begin_ns;
}

static void ask_shares(const struct question *q)
{
	uint64_t ns[SHARES] = { 0 };

	states_add_shares(w.states, q->thread, q->from_ns, q->to_ns, ns);
	w.answer += ns[SHARE_RUNNING];
}

static void ask_cpu(const struct question *q)
{
	struct cpu_state state;
	struct cpu_walk walk;

	states_walk_cpu(w.states, q->cpu, q->from_ns, q->to_ns, &walk);
	while (cpu_walk_next(&walk, &state))
		w.answer += state.begin_ns;
}

static void ask_graph(const struct question *q)
{
	struct graph graph;

	graph_of_threads(w.states, &q->thread, 1,
			 &(struct graph_options){
				 .from_ns = q->from_ns,
				 .to_ns = q->to_ns,
				 .share_min = 0.005,
			 },
			 &graph);
	w.answer += graph.count;
	graph_fini(&graph);
}

/* length_ns: of the range, UINT64_MAX is all of the trace. */
static const struct kind {
	const char *name;
	void (*ask)(const struct question *q);
	uint64_t length_ns;
} kinds[] = {
	{ "open", ask_open, 0 },
	{ "at", ask_at, 1 },
	{ "walk_1ms", ask_walk, 1000000 },
	{ "walk_1s", ask_walk, 1000000000 },
	{ "walk_all", ask_walk, UINT64_MAX },
	{ "shares_1ms", ask_shares, 1000000 },
	{ "shares_1s", ask_shares, 1000000000 },
	{ "shares_all", ask_shares, UINT64_MAX },
	{ "cpu_1ms", ask_cpu, 1000000 },
	{ "cpu_1s", ask_cpu, 1000000000 },
	{ "cpu_all", ask_cpu, UINT64_MAX },
	{ "graph_1s", ask_graph, 1000000000 },
};

static struct question question_of(const struct kind *kind)
{
	uint64_t whole_ns = w.end_ns - w.begin_ns;
	uint64_t length_ns = kind->length_ns < whole_ns ? kind->length_ns : whole_ns;
	struct question q = { .thread = w.threads[pick(w.thread_count)], .cpu = pick(CPUS) };

	q.from_ns = w.begin_ns + pick(whole_ns - length_ns + 1);
	q.to_ns = q.from_ns + length_ns;
	return q;
}

/* --- Answers -------------------------------------------------------------------------------- */

static int open_states(void)
{
	int err = states_open(w.path, &w.states);

	return err ? fail(err, "cannot read %s", w.path) : 0;
}

static void forget_file(void)
{
	int fd = open(w.path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/* The time of one answer; UINT64_MAX: there is none. */
static uint64_t time_answer(const struct kind *kind, bool is_cold)
{
	struct question q = question_of(kind);
	uint64_t begin_ns;

	if (is_cold) {
		states_close(w.states);
		w.states = NULL;
		forget_file();
	}
	begin_ns = now_ns();
	if (is_cold && open_states())
		return UINT64_MAX;
	kind->ask(&q);
	return now_ns() - begin_ns;
}

static int is_longer(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void print(const char *name, uint64_t *answers, size_t count)
{
	qsort(answers, count, sizeof(*answers), is_longer);
	printf("\"%s\": {\"count\": %zu, \"median_ns\": %llu, \"p99_ns\": %llu, \"max_ns\": %llu}", name, count,
	       (unsigned long long)answers[count / 2], (unsigned long long)answers[(count - 1) * 99 / 100],
	       (unsigned long long)answers[count - 1]);
}

static int ask_all(const char *name, bool is_cold, uint64_t limit_ns)
{
	uint64_t *answers = xcalloc(ANSWERS_MAX, sizeof(*answers));

	printf(", \"%s\": {", name);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t end_ns = now_ns() + limit_ns;
		size_t count = 0;

		while (count < ANSWERS_MIN || (count < ANSWERS_MAX && now_ns() < end_ns)) {
			answers[count] = time_answer(&kinds[i], is_cold);
			if (answers[count++] == UINT64_MAX)
				return 1;
		}
		printf(i ? ", " : "");
		print(kinds[i].name, answers, count);
	}
	printf("}");
	free(answers);
	return 0;
}

static void add_thread(void *data, uint32_t thread)
{
	(void)data;
	if (w.thread_count == w.thread_capacity) {
		w.thread_capacity = w.thread_capacity ? 2 * w.thread_capacity : 64;
		w.threads = xrealloc(w.threads, w.thread_capacity, sizeof(*w.threads));
	}
	w.threads[w.thread_count++] = thread;
}

int main(int argc, char **argv)
{
	uint64_t limit_ns = (argc > 2 ? atof(argv[2]) : 1) * 1e9;
	int failed;

	if (argc < 2) {
		fprintf(stderr, "usage: states_ask STATES [SECONDS [SEED]]\n");
		return 2;
	}
	w.path = argv[1];
	w.random = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1) * 0x9e3779b97f4a7c15ull;
	if (open_states())
		return 1;
	w.begin_ns = states_begin_ns(w.states);
	w.end_ns = states_end_ns(w.states);
	states_each_thread(w.states, add_thread, NULL);
	if (!w.thread_count)
		return fail_plain(-1, "%s tells of no thread", argv[1]) != 0;
	printf("{\"threads\": %zu, \"ns\": %llu", w.thread_count, (unsigned long long)(w.end_ns - w.begin_ns));
	failed = ask_all("warm", false, limit_ns) || ask_all("cold", true, limit_ns);
	printf(", \"answer\": %llu}\n", (unsigned long long)w.answer);
	states_close(w.states);
	free(w.threads);
	return failed;
}
