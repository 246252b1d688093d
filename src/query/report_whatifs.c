/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/report_whatifs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "events.h"
#include "graph/graph_label.h"
#include "query/chosen_threads.h"
#include "query/trace_samples.h"
#include "query/trace_states.h"
#include "report/wait_choice.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"
#include "whatif/whatif.h"

/* What a report may cost on top: about 0.3 s. */
enum { STEPS_MAX = 50000, RANKS = 16, CHOSEN_RANKS = 512 };

/* Twice as fast. */
static const double scale = 0.5;

/* Of the run's time: how much the replay may be another one, and how much a change has to gain. */
static const double error_max = 0.02, gain_min = 0.02;

static bool is_of_whole_run(const struct report *report)
{
	const struct report_losses *losses = &report->losses;

	return report->target.exit_status >= 0 && !report->target.is_running && !losses->gaps && !losses->records &&
	       !losses->malformed && !losses->late && !losses->threads_untracked;
}

static bool is_small(const char *trace_path)
{
	struct stat status;

	return !stat(trace_path, &status) && S_ISREG(status.st_mode) &&
	       status.st_size <= REPORT_WHATIFS_TRACE_BYTES_MAX;
}

static bool is_near(uint64_t ns, uint64_t expected_ns)
{
	return fabs((double)ns - (double)expected_ns) <= error_max * expected_ns;
}

/*
 * The trace begins with the command: its first event of a process is the command's exec. A part of a longer trace, or a
 * flight recorder, begins with threads that are there.
 */
static bool has_beginning(const struct trace_states *all)
{
	struct trace_reader *file = states_file(all->states);
	const struct ev_header *header;
	int got;

	trace_reader_seek(file, 0);
	while (all->run && all->run->pid_count == 1 && (got = trace_reader_next(file, &header)) > 0) {
		if (header->subsys == TRACE_SUBSYS_SPACE && header->event == TRACE_EVENT_SPACE_EXEC)
			return ((const struct ev_space_exec *)header)->pid == all->run->pids[0];
		if (header->subsys == TRACE_SUBSYS_THREAD)
			return false;
	}
	return false;
}

/* --- Which are reported ----------------------------------------------------------------------------- */

/* What waits for a lock, a condition or a barrier is called alike by elements. */
static bool is_of_locks(const struct wait_choice *choice)
{
	return wait_choice_has_cause(choice, CAUSE_LOCK) || wait_choice_has_cause(choice, CAUSE_CONDITION) ||
	       wait_choice_has_cause(choice, CAUSE_BARRIER) || wait_choice_has_cause(choice, CAUSE_SEMAPHORE);
}

/* Of some waits alone: what else would gain is no answer. */
static bool is_of_choice(const struct wait_choice *choice, const struct element *element)
{
	if (element->kind == ELEMENT_LOCK)
		return wait_choice_has_object(choice, element->name) && is_of_locks(choice);
	return element->kind == ELEMENT_CPUS && !choice->object_count && wait_choice_has_cause(choice, CAUSE_PREEMPTED);
}

static bool is_asked(const struct wait_choice *choice, const struct element *element)
{
	if (wait_choice_is_set(choice))
		return is_of_choice(choice, element);
	return element->kind == ELEMENT_FUNCTION || element->kind == ELEMENT_LOCK || element->kind == ELEMENT_WAITS ||
	       element->kind == ELEMENT_CPUS;
}

/* Waits for a lock and waits in the function that takes it are the same ones. */
static bool is_told(const struct report_whatifs *whatifs, uint64_t predicted_ns)
{
	for (size_t i = 0; i < whatifs->count; i++)
		if (whatifs->list[i].predicted_ns == predicted_ns)
			return true;
	return false;
}

static bool gains(const struct whatif *whatif, const struct whatif_answer *answer)
{
	double gain_ns = (double)whatif->recorded_ns - answer->predicted_ns;
	double unsure_ns =
		fmax((double)answer->most_ns - answer->predicted_ns, (double)answer->predicted_ns - answer->least_ns);

	return answer->most_ns < whatif->recorded_ns && gain_ns > unsure_ns &&
	       gain_ns >= gain_min * whatif->recorded_ns;
}

static void predict(const struct whatif *whatif, struct graph_labels *labels, const struct element *element,
		    struct whatif_answer *answer)
{
	struct whatif_change change = { .scale = scale, .cpu_count = whatif->cpu_count };
	struct element_choice choice;

	element_choice_init(&choice, whatif->lives, whatif->runs.code);
	if (element->kind == ELEMENT_CPUS)
		change.cpu_count++;
	else if (element_choose(&whatif->runs, labels, element->kind, element->name, &choice))
		change.choice = &choice;
	whatif_predict(whatif, &change, answer);
	critical_path_fini(&answer->path);
	element_choice_fini(&choice);
}

static void add(struct report_whatifs *out, const struct whatif *whatif, const struct element *element,
		const struct whatif_answer *answer)
{
	out->list[out->count++] = (struct report_whatif){
		.kind = element_kind_name(element->kind),
		.name = arena_strdup(out->arena, element->name),
		.scale = element->kind == ELEMENT_CPUS ? 1 : scale,
		.run_ns = whatif->recorded_ns,
		.predicted_ns = answer->predicted_ns,
		.least_ns = answer->least_ns,
		.most_ns = answer->most_ns,
	};
}

static void tell(const struct whatif *whatif, struct graph_labels *labels, const struct wait_choice *choice,
		 struct report_whatifs *out)
{
	size_t capacity = wait_choice_is_set(choice) ? CHOSEN_RANKS : RANKS, count;
	struct whatif_rank *ranks = xcalloc(capacity, sizeof(*ranks));

	count = whatif_rank(whatif, labels, scale, ranks, capacity);

	for (size_t i = 0; i < count && out->count < REPORT_WHATIFS_MAX; i++) {
		const struct element *element = &ranks[i].element;
		struct whatif_answer answer;

		if (!is_asked(choice, element) || is_told(out, ranks[i].predicted_ns))
			continue;
		predict(whatif, labels, element, &answer);
		if (gains(whatif, &answer))
			add(out, whatif, element, &answer);
	}
	free(ranks);
}

/* --- The replay --------------------------------------------------------------------------------- */

static void find_in_lives(const struct trace_states *all, const struct lives *lives, const struct fold_rules *fold,
			  const struct wait_choice *choice, struct report_whatifs *out)
{
	struct graph_labels *labels = trace_states_labels(all, fold, false);
	struct whatif whatif;
	struct run_code code;

	trace_samples_read(all, &code);
	whatif_init(&whatif, lives, &code);
	run_code_name(&code, labels);
	if (is_near(whatif.replay_ns, whatif.recorded_ns))
		tell(&whatif, labels, choice, out);
	whatif_fini(&whatif);
	run_code_fini(&code);
	graph_labels_free(labels);
}

struct numbers {
	uint32_t *list;
	size_t count, capacity;
};

static void add_number(void *data, uint32_t thread)
{
	struct numbers *numbers = data;

	ARRAY_GROW(numbers->list, numbers->count, numbers->capacity, 64);
	numbers->list[numbers->count++] = thread;
}

static void find_in_states(const struct trace_states *all, const struct fold_rules *fold, const struct report *report,
			   const struct wait_choice *choice, struct report_whatifs *out)
{
	struct numbers numbers = { 0 };
	struct lives lives = { 0 };

	states_each_thread(all->states, add_number, &numbers);
	if (!lives_of(all->states, all->threads, numbers.list, numbers.count, &lives) &&
	    lives.begin_ns < lives.end_ns && lives.step_count <= STEPS_MAX &&
	    is_near(lives.end_ns - lives.begin_ns, report->target.wall_ns))
		find_in_lives(all, &lives, fold, choice, out);
	lives_fini(&lives);
	free(numbers.list);
}

void report_whatifs_find(const char *trace_path, bool opens_files, const struct fold_rules *fold,
			 const struct report *report, const struct wait_choice *choice, struct report_whatifs *out)
{
	struct trace_states all;

	*out = (struct report_whatifs){ .arena = arena_new() };
	if (!is_of_whole_run(report) || !is_small(trace_path))
		return;
	if (!trace_states_open_for_once(trace_path, opens_files, &all) && has_beginning(&all))
		find_in_states(&all, fold, report, choice, out);
	trace_states_close(&all);
}

void report_whatifs_fini(struct report_whatifs *whatifs)
{
	if (whatifs->arena)
		arena_free(whatifs->arena);
	*whatifs = (struct report_whatifs){ 0 };
}

void report_whatifs_fill(const struct report_whatifs *whatifs, struct report *report)
{
	report->whatifs = whatifs->list;
	report->whatif_count = whatifs->count;
}
