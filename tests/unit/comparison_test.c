/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparisons: features of random lives against lists of them; graphs merged against the same done
 * naively; and a server whose requests are slow for a known reason.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compare/comparison.h"
#include "compare/groups.h"
#include "compare/reasons.h"
#include "findings/names/path_names.h"
#include "graph/graph_label.h"
#include "session/session.h"
#include "session/threads.h"
#include "spans/execution.h"
#include "spans/features.h"
#include "stacks/fold.h"
#include "stacks/stacks.h"
#include "state_stage.h"
#include "states/states.h"
#include "symbol/symbol.h"
#include "values.h"
#include "view/trace/comparison_view.h"

enum { THREADS = 4, PARTS_MAX = 4096, FUTEX = 202, EXECUTIONS_MAX = 512 };

/* What each thread did, as it was recorded; each has a CPU of its own. */
static struct {
	uint32_t random;
	uint64_t now_ns;
	struct stacks *stacks;
	struct symbols *symbols;
	struct path_names *names;
	struct fold_rules *fold;
	struct compared_trace trace;
	struct state_stage stage;
	struct part {
		uint64_t begin_ns, end_ns;
		enum state_kind kind;
	} parts[THREADS + 1][PARTS_MAX];
	size_t counts[THREADS + 1];
	struct execution executions[EXECUTIONS_MAX];
	bool is_slow[EXECUTIONS_MAX];
	size_t execution_count;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static void emit(uint32_t number, enum state_kind kind, struct state_change change)
{
	size_t count = w.counts[number];

	if (count)
		w.parts[number][count - 1].end_ns = w.now_ns;
	w.parts[number][w.counts[number]++] = (struct part){ w.now_ns, 0, kind };
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void run(uint32_t number)
{
	emit(number, STATE_RUNNING, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
}

static void block(uint32_t number)
{
	struct ev_sched_switch e = { .state = SWITCH_SLEEPING, .syscall = FUTEX };

	emit(number, STATE_BLOCKED, (struct state_change){ .phase = PHASE_BLOCKED, .out = &e });
}

static void wake(uint32_t number, uint32_t waker)
{
	struct ev_sched_wake e = {
		.waker = waker,
		.tid = 100 + waker,
		.context = WAKE_THREAD,
		.syscall = SYSCALL_NONE,
	};

	emit(number, STATE_RUNNABLE, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &e });
}

static void begin(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed;
	w.now_ns = 1000000;
	state_stage_open(&w.stage);
	w.stacks = stacks_new(w.stage.session, 0);
	w.symbols = symbols_new(w.stage.session);
	symbols_set_offline(w.symbols, false);
	w.names = path_names_new(w.symbols, w.stacks, NULL);
	w.fold = fold_rules_new();
	for (uint32_t i = 1; i <= THREADS; i++) {
		snprintf(threads_get(w.stage.threads, i)->name, 16, "worker-%u", i);
		run(i);
	}
}

static void play_out(void)
{
	state_stage_finish(&w.stage, w.now_ns);
	for (uint32_t i = 1; i <= THREADS; i++)
		w.parts[i][w.counts[i] - 1].end_ns = w.now_ns;
	w.trace.states = w.stage.states;
	w.trace.labels = graph_labels_new(&(struct graph_names){
		.threads = w.stage.threads,
		.others = w.stage.others,
		.files = w.stage.files,
		.symbols = w.symbols,
		.paths = w.names,
		.fold = w.fold,
	});
	graph_labels_group(w.trace.labels, true);
}

static void end(void)
{
	graph_labels_free(w.trace.labels);
	fold_rules_free(w.fold);
	path_names_free(w.names);
	symbols_free(w.symbols);
	stacks_free(w.stacks);
	state_stage_close(&w.stage);
}

/* --- Features --------------------------------------------------------------------------------- */

static void step(void)
{
	uint32_t number = 1 + pick(THREADS);

	w.now_ns += 1 + pick(1000);
	switch (w.parts[number][w.counts[number] - 1].kind) {
	case STATE_RUNNING:
		block(number);
		break;
	case STATE_BLOCKED:
		wake(number, 1 + number % THREADS);
		break;
	default:
		run(number);
		break;
	}
}

static void get_figures(const struct execution *execution, double values[FIGURES])
{
	struct features features = { 0 };

	features_of_execution(execution, &features);
	features_of_states(w.trace.states,
			   &(struct execution_part){ execution->begin_ns, execution->end_ns, execution->thread, 0 },
			   &features);
	memset(values, 0, FIGURES * sizeof(*values));
	figures_add(values, &features);
}

static void check_features(uint32_t seed)
{
	uint32_t number = 1 + pick(THREADS);
	uint64_t from_ns = 1000000 + pick(w.now_ns - 1000000), to_ns = from_ns + 1 + pick(20000);
	double values[FIGURES], expected[STATE_BLOCKED + 1] = { 0 }, blocked_ns = 0, waits = 0, count = 0;
	uint64_t shares[SHARES] = { 0 };
	struct execution execution = { .thread = number, .begin_ns = from_ns, .end_ns = to_ns };

	for (size_t i = 0; i < w.counts[number]; i++) {
		const struct part *part = &w.parts[number][i];
		uint64_t first_ns = part->begin_ns > from_ns ? part->begin_ns : from_ns;
		uint64_t last_ns = part->end_ns < to_ns ? part->end_ns : to_ns;

		if (first_ns >= last_ns)
			continue;
		expected[part->kind] += last_ns - first_ns;
		count += part->kind == STATE_BLOCKED;
	}
	get_figures(&execution, values);
	states_add_shares(w.trace.states, number, from_ns, to_ns, shares);
	for (unsigned int cause = 0; cause < CAUSES; cause++) {
		blocked_ns += values[FIGURE_SHARES + SHARE_BLOCKED + cause];
		waits += values[FIGURE_WAITS + cause];
	}
	for (unsigned int share = 0; share < SHARES; share++)
		if (values[FIGURE_SHARES + share] != shares[share])
			fail_msg("seed %u: share %u", seed, share);
	if (values[FIGURE_DURATION] != to_ns - from_ns || waits != count || blocked_ns != expected[STATE_BLOCKED] ||
	    values[FIGURE_SHARES + SHARE_RUNNING] != expected[STATE_RUNNING] ||
	    values[FIGURE_SHARES + SHARE_RUNNABLE] != expected[STATE_RUNNABLE])
		fail_msg("seed %u: features of %u", seed, number);
}

TEST(features_of_random_lives_are_what_their_parts_add_up_to)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		begin(seed);
		for (uint32_t i = 1 + pick(600); i-- > 0;)
			step();
		w.now_ns += 100;
		play_out();
		for (int i = 0; i < 4; i++)
			check_features(seed);
		end();
	}
}

TEST(features_have_different_names_by_which_they_are_found)
{
	for (unsigned int i = 0; i < FIGURES; i++) {
		struct text name = { 0 };

		figure_put_name(&name, i);
		CHECK_EQUAL(figure_find(name.bytes), i);
		text_fini(&name);
	}
	CHECK_EQUAL(figure_find(""), FIGURES);
	CHECK_EQUAL(figure_find("lost."), FIGURES);
}

/* --- Graphs merged ---------------------------------------------------------------------------- */

enum { GRAPHS_MAX = 12, NODES_MAX = 40 };

/* Of each graph, by the way from the root: its time. */
static struct {
	char ways[GRAPHS_MAX][NODES_MAX][128];
	double ns[GRAPHS_MAX][NODES_MAX];
	size_t counts[GRAPHS_MAX];
	unsigned int sides[GRAPHS_MAX];
} naive;

static void make_graph(size_t at, struct graph *graph)
{
	static const enum graph_kind kinds[] = { GRAPH_RUNNING, GRAPH_CPU, GRAPH_DISK, GRAPH_THREAD };

	graph->nodes = xcalloc(NODES_MAX, sizeof(*graph->nodes));
	graph->nodes[0] = (struct graph_node){ .kind = GRAPH_THREAD, .id = 1, .parent = SIZE_MAX };
	graph->count = 1 + pick(NODES_MAX - 1);
	naive.counts[at] = graph->count;
	for (size_t i = 0; i < graph->count; i++) {
		struct graph_node *node = &graph->nodes[i];

		if (i)
			*node = (struct graph_node){
				.kind = kinds[pick(4)],
				.id = 1 + pick(THREADS),
				.parent = pick(i < 4 ? i : 4),
			};
		node->ns = pick(1000);
		naive.ns[at][i] = node->ns * 0.5;
		snprintf(naive.ways[at][i], sizeof(naive.ways[at][i]), "%.100s/%s",
			 i ? naive.ways[at][node->parent] : "", i ? graph_label(w.trace.labels, node) : "");
	}
}

/* Of all graphs of a side, what the way is worth: a graph has its time there, or 0. */
static struct sample naive_sample(const char *way, unsigned int side, size_t graph_count)
{
	struct sample sample = { 0 };

	for (size_t g = 0; g < graph_count; g++) {
		double ns = 0;

		if (naive.sides[g] != side)
			continue;
		for (size_t i = 0; i < naive.counts[g]; i++)
			ns += strcmp(naive.ways[g][i], way) ? 0 : naive.ns[g][i];
		sample_add(&sample, ns);
	}
	return sample;
}

static void put_way(const struct graph_set *set, size_t at, char *way, size_t size)
{
	char above[128] = "";

	if (at)
		put_way(set, set->nodes[at].parent, above, sizeof(above));
	snprintf(way, size, "%.100s/%s", above, at ? set->nodes[at].label : "");
}

static void check_set(const struct graph_set *set, size_t graph_count, uint32_t seed)
{
	double sum = 0, naive_sum = 0;

	for (size_t i = 0; i < set->count; i++) {
		char way[128];

		put_way(set, i, way, sizeof(way));
		for (unsigned int side = 0; side < SIDES; side++) {
			struct sample got = graph_set_ns(set, &set->nodes[i], side);
			struct sample expected = naive_sample(way, side, graph_count);

			if (got.count != expected.count || fabs(got.mean - expected.mean) > 1e-6 ||
			    fabs(sample_deviation(&got) - sample_deviation(&expected)) > 1e-6)
				fail_msg("seed %u: %s", seed, way);
			sum += got.mean * got.count;
		}
	}
	for (size_t g = 0; g < graph_count; g++)
		for (size_t i = 0; i < naive.counts[g]; i++)
			naive_sum += naive.ns[g][i];
	if (fabs(sum - naive_sum) > 1e-3)
		fail_msg("seed %u: %g ns are in the set, not %g", seed, sum, naive_sum);
}

TEST(merged_graphs_have_the_means_and_deviations_of_all)
{
	begin(1);
	w.now_ns += 100;
	play_out();
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct graph_set *set = graph_set_new(false);
		size_t count = 1 + pick(GRAPHS_MAX - 1);

		w.random = seed;
		for (size_t g = 0; g < count; g++) {
			struct graph graph = { 0 };

			naive.sides[g] = pick(2);
			make_graph(g, &graph);
			graph_set_add(set, naive.sides[g], &graph, w.trace.labels, 0.5);
			graph_fini(&graph);
		}
		check_set(set, count, seed);
		graph_set_free(set);
	}
	end();
}

/* --- A server --------------------------------------------------------------------------------- */

/* Runs for 1 ms; a slow one then waits for another worker, for 20 ms, who runs. */
static void serve(uint32_t number, bool is_slow)
{
	struct execution *execution = &w.executions[w.execution_count];

	w.is_slow[w.execution_count++] = is_slow;
	*execution = (struct execution){ .thread = number, .begin_ns = w.now_ns };
	w.now_ns += 900000 + pick(200000);
	if (is_slow) {
		block(number);
		w.now_ns += 19000000 + pick(2000000);
		wake(number, 1 + number % THREADS);
		w.now_ns += 1000 + pick(1000);
		run(number);
		w.now_ns += 10000;
	}
	execution->end_ns = w.now_ns;
	w.now_ns += pick(100000);
}

static void make_server(uint32_t seed, uint32_t slow_one_in)
{
	begin(seed);
	for (size_t i = 0; i < 200; i++)
		serve(1 + pick(THREADS), slow_one_in && i % slow_one_in == 0);
	w.now_ns += 1000;
	play_out();
}

/* Groups that are known already, side by side. */
static void compare_groups(struct comparison *comparison, const uint8_t *group_of)
{
	comparison_init(comparison, false, 0.005);
	comparison->sides[FIRST_SIDE].name = "fast executions";
	comparison->sides[SECOND_SIDE].name = "slow executions";
	for (size_t i = 0; i < w.execution_count; i++) {
		double values[FIGURES];

		get_figures(&w.executions[i], values);
		comparison_add(comparison, group_of[i], &w.trace, &w.executions[i], values, true);
	}
}

static bool says(const struct text *text, const char *words)
{
	if (strstr(text->bytes, words))
		return true;
	print_message("%s\nlacks: %s\n", text->bytes, words);
	return false;
}

TEST(slow_requests_are_distinguished_from_fast_ones_and_why_they_are_slow)
{
	double(*values)[FIGURES] = xcalloc(EXECUTIONS_MAX, sizeof(*values));
	struct comparison comparison;
	struct groups groups;
	struct reasons reasons;
	struct text words = { 0 }, dot = { 0 }, json = { 0 };

	make_server(7, 10);
	for (size_t i = 0; i < w.execution_count; i++)
		get_figures(&w.executions[i], values[i]);
	groups_make(values[0], w.execution_count, &(struct groups_options){ 0 }, &groups);
	CHECK_EQUAL(groups.count, 2);
	CHECK_EQUAL(groups.sizes[1], 20);
	CHECK_THAT(groups.silhouette, >, 0.9);
	for (size_t i = 0; i < w.execution_count; i++)
		CHECK_EQUAL(groups.of[i], w.is_slow[i]);

	compare_groups(&comparison, groups.of);
	reasons_find(&comparison, &reasons);
	CHECK_EQUAL(reasons.count, 1);
	CHECK_THAT(fabs(reasons.list[0].ns.delta - 20e6), <, 0.3e6);
	CHECK_THAT(reasons.list[0].ns.chance, <, 1e-6);
	CHECK_EQUAL(reasons.list[0].ns.boldness, 0);
	reason_put(&words, &comparison, &reasons.list[0]);
	CHECK(says(&words, "slow executions spend "));
	CHECK(says(&words, " ms more in lock, waiting for other worker-* threads, which are running"));
	CHECK(says(&words, "; in 20 of 20, and 0 of 180 fast executions"));

	comparison_put_dot(&dot, &(struct comparison_view){ .comparison = &comparison });
	CHECK(says(&dot, "style=dotted") && says(&dot, "style=solid") && !strstr(dot.bytes, "dashed"));
	comparison_put_json(&json, &(struct comparison_view){
					   .comparison = &comparison,
					   .reasons = &reasons,
				   });
	CHECK(says(&json, "\"words\": \"slow executions spend"));
	CHECK(!strstr(json.bytes, "left_out") && !strstr(json.bytes, "\"node\": null"));
	json.length = 0;
	comparison_put_json_longest(&json,
				    &(struct comparison_view){
					    .comparison = &comparison,
					    .reasons = &reasons,
				    },
				    1);
	CHECK(says(&json, "\"node\": null") && says(&json, "\"parent\": null") && says(&json, "\"left_out\": "));
	CHECK(!strstr(json.bytes, "\"parent\": 0"));
	text_fini(&words);
	text_fini(&dot);
	text_fini(&json);
	reasons_fini(&reasons);
	comparison_fini(&comparison);
	groups_fini(&groups);
	free(values);
	end();
}

/* At random, so that all there is between them is chance: of a hundred such, five may be reported by mistake. */
TEST(requests_that_are_alike_have_no_difference)
{
	unsigned int recorded = 0;

	for (uint32_t seed = 1; seed <= 100; seed++) {
		struct comparison comparison;
		struct reasons reasons;
		uint8_t group_of[EXECUTIONS_MAX];

		make_server(seed, 0);
		for (size_t i = 0; i < w.execution_count; i++)
			group_of[i] = pick(2);
		compare_groups(&comparison, group_of);
		reasons_find(&comparison, &reasons);
		recorded += reasons.count > 0;
		reasons_fini(&reasons);
		comparison_fini(&comparison);
		end();
	}
	CHECK_THAT(recorded, <=, 10);
}
