/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spin/spin_flow.h"
#include "spin/spin_graph.h"
#include "spin/spin_step.h"

_Static_assert((int)SPIN_LOOP_TEXT_BYTES == (int)SPIN_TEXT_BYTES, "one holds the other");

enum { SYSCALL_SCHED_YIELD = 24, YIELD_BYTES_MAX = 24, TESTS_MAX = 3 };

/* Bounds on the time that an answer takes. */
enum { JUDGED_MAX = 4, LOOKS_MAX = 4 };

struct spin_finder {
	struct spin_decoder *decoder;
	struct spin_flow *flow;
	spin_yields *yields;
	void *data;
	struct spin_graph graph;
	struct spin_body loops[SPIN_LOOPS_MAX]; /* without what no turn of a spin loop does */
	struct spin_body all_loops[SPIN_LOOPS_MAX];
	size_t loop_count, all_loop_count;
};

enum verdict {
	IS_WORK,    /* it does something, and so does a loop around it */
	IS_OUTSIDE, /* its turns do not pass the address, or cannot be followed */
	IS_DELAY,   /* it counts, and waits for nobody */
	IS_PAUSE,   /* it pauses, and what ends it is unknown */
	IS_SPIN,
};

/* What examining a loop showed. */
struct loop_traits {
	struct spin_facts facts;
	spin_set cycle; /* the steps of its turns that pass the address */
	int branch;     /* where it waits; -1: unknown */
	bool is_retry;  /* its turns are over unless others write */
};

struct spin_finder *spin_finder_new(spin_yields *yields, void *data)
{
	struct spin_finder *finder = xcalloc(1, sizeof(*finder));

	finder->decoder = spin_decoder_new();
	finder->flow = spin_flow_new();
	finder->yields = yields;
	finder->data = data;
	if (finder->decoder)
		return finder;
	spin_finder_free(finder);
	return NULL;
}

void spin_finder_free(struct spin_finder *finder)
{
	if (!finder)
		return;
	spin_decoder_free(finder->decoder);
	spin_flow_free(finder->flow);
	free(finder);
}

/* Those of the steps with an effect. */
static spin_set steps_of(const struct spin_graph *graph, spin_set within, enum spin_effect effect)
{
	spin_set found = 0;

	for (spin_set rest = within; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);

		if (graph->steps[i].effect == effect)
			found |= SPIN_BIT(i);
	}
	return found;
}

static spin_set yield_steps(const struct spin_graph *graph, spin_set within)
{
	spin_set found = 0;

	for (spin_set rest = within; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);

		if (graph->steps[i].is_yield)
			found |= SPIN_BIT(i);
	}
	return found;
}

/* sched_yield(2) in its own words: the number of the call is set just before it. */
static bool is_yield(const struct spin_graph *graph, const struct spin_step *syscall)
{
	const struct spin_step *nearest = NULL;

	for (size_t i = 0; i < graph->count; i++) {
		const struct spin_step *step = &graph->steps[i];

		if (step->effect == SPIN_COPY && syscall->address - step->address < YIELD_BYTES_MAX &&
		    step->operands[0].kind == SPIN_REGISTER && step->operands[0].location == SPIN_RAX &&
		    (!nearest || step->address > nearest->address))
			nearest = step;
	}
	return nearest && nearest->operands[1].kind == SPIN_CONSTANT &&
	       nearest->operands[1].constant == SYSCALL_SCHED_YIELD;
}

/* Calls that only give the CPU away are marked as such. */
static void find_yields(struct spin_finder *finder, spin_set cycle)
{
	struct spin_graph *graph = &finder->graph;

	for (spin_set rest = steps_of(graph, cycle, SPIN_CALL); rest; rest &= rest - 1) {
		struct spin_step *step = &graph->steps[spin_set_first(rest)];

		if (step->target && finder->yields && finder->yields(finder->data, step->target))
			step->is_yield = true;
	}
	for (spin_set rest = steps_of(graph, cycle, SPIN_SYSCALL); rest; rest &= rest - 1) {
		struct spin_step *step = &graph->steps[spin_set_first(rest)];

		if (is_yield(graph, step))
			step->is_yield = true;
	}
}

/* What no turn of a spin loop does. */
static spin_set busy_steps(const struct spin_graph *graph, spin_set within)
{
	return (steps_of(graph, within, SPIN_CALL) | steps_of(graph, within, SPIN_SYSCALL) |
		steps_of(graph, within, SPIN_WORK)) &
	       ~yield_steps(graph, within);
}

static bool is_small(const struct spin_graph *graph, spin_set steps)
{
	size_t bytes = 0;

	if (spin_set_count(steps) > SPIN_LOOP_STEPS_MAX)
		return false;
	for (; steps; steps &= steps - 1)
		bytes += graph->steps[spin_set_first(steps)].size;
	return bytes <= SPIN_LOOP_BYTES_MAX;
}

/* The pauses that are not those of a loop within the loop which does not pass the address. */
static spin_set own_pauses(const struct spin_finder *finder, spin_set cycle)
{
	spin_set pauses = steps_of(&finder->graph, cycle, SPIN_PAUSING);

	for (size_t i = 0; i < finder->loop_count; i++)
		if (!(finder->loops[i].steps & SPIN_BIT(0)))
			pauses &= ~finder->loops[i].steps;
	return pauses;
}

/* Each turn pauses. */
static bool is_pausing(const struct spin_finder *finder, const struct loop_traits *traits)
{
	spin_set pauses = own_pauses(finder, traits->cycle);
	const uint8_t *ways = traits->is_retry ? NULL : traits->facts.ways;

	return pauses && spin_graph_cycle(&finder->graph, traits->cycle, ways, 0) &&
	       !spin_graph_cycle(&finder->graph, traits->cycle & ~pauses, ways, 0);
}

/* A branch leads out of a set of steps, or of all that was explored. */
static bool leads_out(const struct spin_graph *graph, int branch, spin_set steps)
{
	return graph->behind[branch] < 0 || graph->target[branch] < 0 ||
	       spin_graph_next(graph, branch, SPIN_BEHIND | SPIN_AT_TARGET) & ~steps;
}

/* Nothing but reading and testing. */
static bool is_bare(const struct spin_graph *graph, const struct loop_traits *traits)
{
	spin_set cycle = traits->cycle;

	return !(cycle & traits->facts.attempts) && !yield_steps(graph, cycle) && !steps_of(graph, cycle, SPIN_PAUSING);
}

/*
 * A bare loop might be those turns of a loop that works in which what is read happens to need no
 * work. It is taken for waiting only where it is simple: it decides by memory that others may
 * write to and by counters alone, tests little, and reads but one word if it counts.
 */
static bool is_simple(const struct loop_traits *traits)
{
	const struct spin_facts *facts = &traits->facts;

	return !facts->deciding && spin_set_count(traits->cycle & facts->waiting) <= TESTS_MAX &&
	       (!facts->counters || spin_set_count(traits->cycle & facts->reading) == 1);
}

/*
 * A branch at which the loop is left when memory says so, from turns that change nothing. An
 * attempt that changes its word each time may be around such turns, but is no part of them: as
 * the lock dec of a lock that is then only read until it is free. around: what is to be left, too.
 */
static int find_branch(const struct spin_finder *finder, const struct loop_traits *traits, spin_set around)
{
	const struct spin_facts *facts = &traits->facts;
	spin_set calm = traits->cycle & ~facts->advancing;
	spin_set waiting = is_bare(&finder->graph, traits) ? facts->polling : facts->waiting;
	int found = -1;

	for (spin_set rest = calm & waiting; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);
		spin_set turns = spin_graph_cycle(&finder->graph, calm, facts->ways, i);

		if (!turns || !leads_out(&finder->graph, i, turns | around))
			continue;
		if (found < 0 || facts->with_word & SPIN_BIT(facts->reads[i]))
			found = i;
	}
	return found;
}

/* A loop around the turns that were examined, which does what they do not. */
static const struct spin_facts *look_around(struct spin_finder *finder, const struct loop_traits *traits,
					    const struct spin_body *loop)
{
	const struct spin_facts *facts;

	if (traits->cycle & ~loop->steps || traits->cycle == loop->steps)
		return NULL;
	facts = spin_flow_run(finder->flow, loop);
	if (!facts || !(facts->computes || facts->storing | facts->wandering | busy_steps(&finder->graph, loop->steps)))
		return NULL;
	return facts;
}

/* Not all ways from the turns were explored: what they are part of is unknown. */
static bool is_open(const struct spin_graph *graph, spin_set cycle)
{
	for (; cycle; cycle &= cycle - 1) {
		int i = spin_set_first(cycle);

		if (graph->behind[i] == SPIN_UNEXPLORED || graph->target[i] == SPIN_UNEXPLORED)
			return true;
	}
	return false;
}

/*
 * What is counted goes on to be counted in a loop around the turns that does what they do not:
 * there it may be the number of things to do, none of which is done in these turns. It is, when
 * memory is accessed by that number; else the branch that waits leads out of that loop, too.
 */
static bool is_part_of_work(struct spin_finder *finder, struct loop_traits *traits)
{
	spin_set around = 0;

	if (is_open(&finder->graph, traits->cycle))
		return true;
	for (size_t i = 0; i < finder->all_loop_count; i++) {
		const struct spin_body *loop = &finder->all_loops[i];
		const struct spin_facts *facts = look_around(finder, traits, loop);

		if (!facts || !(facts->carried & traits->facts.counters))
			continue;
		if (facts->wandering)
			return true;
		around |= loop->steps;
	}
	traits->branch = find_branch(finder, traits, around);
	return false;
}

/*
 * Goes round those turns of a loop that pass the address and write to no memory. Where there are
 * none but such that are over unless others write, those are taken: they may still pause.
 */
static bool look(struct spin_finder *finder, const struct spin_body *loop, struct loop_traits *traits)
{
	const struct spin_graph *graph = &finder->graph;
	struct spin_body body = { .steps = loop->steps };

	for (int looks = 0; looks < LOOKS_MAX; looks++) {
		const struct spin_facts *facts;

		body.steps = spin_graph_cycle(graph, body.steps, NULL, 0);
		if (!body.steps)
			return false;
		body.head = body.steps & SPIN_BIT(loop->head) ? loop->head : spin_graph_head(graph, body.steps);
		facts = spin_flow_run(finder->flow, &body);
		if (!facts)
			return false;
		traits->cycle = spin_graph_cycle(graph, body.steps & facts->visited, facts->ways, 0);
		traits->is_retry = !traits->cycle;
		if (traits->is_retry)
			traits->cycle = body.steps & facts->seen;
		if (traits->cycle & facts->storing) {
			body.steps &= ~facts->storing;
		} else if (traits->cycle & SPIN_BIT(body.head)) {
			traits->facts = *facts;
			return true;
		} else {
			/* What is carried from turn to turn shows at the head. */
			body.steps = traits->cycle;
		}
	}
	return false;
}

static enum verdict judge(struct spin_finder *finder, const struct spin_body *loop, struct loop_traits *traits)
{
	const struct spin_facts *facts = &traits->facts;

	if (!look(finder, loop, traits))
		return IS_OUTSIDE;
	traits->branch = find_branch(finder, traits, 0);
	if (is_pausing(finder, traits))
		return traits->branch >= 0 ? IS_SPIN : IS_PAUSE;
	if (traits->is_retry)
		return IS_OUTSIDE;
	if (traits->cycle & facts->wandering || facts->computes || facts->has_states)
		return IS_WORK;
	if (traits->branch < 0)
		return own_pauses(finder, traits->cycle) ? IS_PAUSE : IS_DELAY;
	if (is_bare(&finder->graph, traits) &&
	    (!is_simple(traits) || (facts->counters && is_part_of_work(finder, traits))))
		return IS_WORK;
	return traits->branch >= 0 ? IS_SPIN : IS_DELAY;
}

/* Where ways part, most turns take the shortest; it does something that waiting does not. */
static bool is_working(struct spin_finder *finder)
{
	struct spin_body shortest = { .steps = spin_graph_shortest(&finder->graph) };
	const struct spin_facts *facts;

	if (busy_steps(&finder->graph, shortest.steps) || steps_of(&finder->graph, shortest.steps, SPIN_PAUSING))
		return false;
	shortest.head = spin_graph_head(&finder->graph, shortest.steps);
	facts = spin_flow_run(finder->flow, &shortest);
	return !facts || facts->computes || shortest.steps & (facts->wandering | facts->storing);
}

static void set_reader(const struct spin_finder *finder, const struct spin_code *code, const struct loop_traits *traits,
		       struct spin_loop *out)
{
	int reader = traits->facts.reads[traits->branch];
	const struct spin_step *step = &finder->graph.steps[reader];

	out->reader = step->address;
	out->has_word = traits->facts.with_word & SPIN_BIT(reader);
	out->word = out->has_word ? traits->facts.word[reader] : 0;
	spin_step_text(finder->decoder, code->bytes + (step->address - code->address), step->size, step->address,
		       out->reads);
}

static void describe(const struct spin_finder *finder, const struct spin_code *code, const struct loop_traits *traits,
		     struct spin_loop *out)
{
	const struct spin_graph *graph = &finder->graph;

	*out = (struct spin_loop){ .begin = UINT64_MAX, .kind = SPIN_BY_LOAD, .kept = UINT16_MAX };
	for (spin_set rest = traits->cycle; rest; rest &= rest - 1) {
		const struct spin_step *step = &graph->steps[spin_set_first(rest)];

		if (step->address < out->begin)
			out->begin = step->address;
		if (step->address + step->size > out->end)
			out->end = step->address + step->size;
		out->kept &= ~spin_step_writes(step);
	}
	if (traits->cycle & traits->facts.attempts)
		out->kind = SPIN_BY_ATOMIC;
	if (yield_steps(graph, traits->cycle))
		out->kind = SPIN_BY_YIELD;
	if (steps_of(graph, traits->cycle, SPIN_PAUSING))
		out->kind = SPIN_BY_PAUSE;
	if (traits->branch >= 0)
		set_reader(finder, code, traits, out);
}

/* The loops that hold the address, from the innermost on, until one of them is known to work. */
static bool find(struct spin_finder *finder, const struct spin_code *code, struct spin_loop *out)
{
	spin_set working = 0;
	bool is_found = false;
	size_t judged = 0;

	for (size_t i = 0; i < finder->loop_count && judged < JUDGED_MAX; i++) {
		const struct spin_body *loop = &finder->loops[i];
		struct loop_traits traits = { .branch = -1 };
		enum verdict verdict;

		if (!(loop->steps & SPIN_BIT(0)) || (working && !(working & ~loop->steps)))
			continue;
		if (!is_small(&finder->graph, loop->steps))
			break;
		judged++;
		verdict = judge(finder, loop, &traits);
		if (verdict == IS_SPIN || (verdict == IS_PAUSE && !is_found)) {
			describe(finder, code, &traits, out);
			is_found = true;
		}
		if (verdict == IS_SPIN)
			break;
		if (verdict == IS_WORK)
			working = loop->steps;
	}
	return is_found;
}

bool spin_loop_find(struct spin_finder *finder, const uint8_t *code, size_t size, uint64_t address, uint64_t ip,
		    struct spin_loop *out)
{
	const struct spin_code bytes = { .bytes = code, .size = size, .address = address };
	struct spin_graph *graph = &finder->graph;
	spin_set all, cycle;

	if (!spin_graph_explore(graph, finder->decoder, &bytes, ip))
		return false;
	all = SPIN_BIT(graph->count) - 1;
	cycle = spin_graph_cycle(graph, all, NULL, 0);
	if (!cycle)
		return false;
	find_yields(finder, cycle);
	spin_flow_begin(finder->flow, graph, cycle);
	if (is_working(finder))
		return false;
	finder->all_loop_count = spin_graph_loops(graph, cycle, finder->all_loops);
	cycle = spin_graph_cycle(graph, cycle & ~busy_steps(graph, cycle), NULL, 0);
	finder->loop_count = spin_graph_loops(graph, cycle, finder->loops);
	return find(finder, &bytes, out);
}
