/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/tasks.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "whatif/lives.h"
#include "whatif/step_replay.h"

static struct table *lives_by_thread(const struct lives *lives)
{
	struct table *table = table_new();

	for (size_t i = 0; i < lives->count; i++)
		table_put(table, lives->lives[i].thread, &lives->lives[i]);
	return table;
}

/* Since the beginning of the replay; UINT64_MAX: the thread had no step by then. */
static uint64_t moment_ns(const struct lives *lives, const struct replay *replay, const struct life *life, uint64_t ns)
{
	const struct step *step;
	uint64_t begin_ns, length_ns;
	size_t at;

	if (!life || life->first == life->end || ns < lives->steps[life->first].begin_ns)
		return UINT64_MAX;
	at = BOUND(life->first, life->end, i, lives->steps[i].end_ns <= ns);
	if (at == life->end)
		return replay->ends_ns[life->end - 1];
	step = &lives->steps[at];
	begin_ns = at > life->first ? replay->ends_ns[at - 1] : 0;
	length_ns = replay->ends_ns[at] - begin_ns;
	if (ns <= step->begin_ns || !step_ns(step))
		return begin_ns;
	return begin_ns + (uint64_t)((double)(ns - step->begin_ns) / step_ns(step) * length_ns);
}

static uint64_t length_ns(const struct lives *lives, const struct table *by_thread, const struct replay *replay,
			  const struct whatif_task *task)
{
	uint64_t begin_ns = moment_ns(lives, replay, table_find(by_thread, task->begin_thread), task->begin_ns);
	uint64_t end_ns = moment_ns(lives, replay, table_find(by_thread, task->end_thread), task->end_ns);

	if (begin_ns == UINT64_MAX || end_ns == UINT64_MAX)
		return UINT64_MAX;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static uint64_t predicted_of(uint64_t recorded_ns, uint64_t same_ns, uint64_t changed_ns)
{
	if (same_ns == UINT64_MAX || changed_ns == UINT64_MAX)
		return UINT64_MAX;
	if (same_ns == changed_ns)
		return recorded_ns;
	return same_ns ? (double)changed_ns / same_ns * recorded_ns : changed_ns;
}

void whatif_predict_tasks(const struct whatif *whatif, const struct whatif_change *change,
			  const struct whatif_task *tasks, size_t count, uint64_t *predicted_ns)
{
	const struct whatif_change none = { .scale = 1, .cpu_count = whatif->lives->cpu_count };
	struct table *by_thread = lives_by_thread(whatif->lives);
	struct replay same, changed;

	whatif_replay(whatif, &none, &same);
	whatif_replay(whatif, change, &changed);
	for (size_t i = 0; i < count; i++)
		predicted_ns[i] = predicted_of(tasks[i].end_ns - tasks[i].begin_ns,
					       length_ns(whatif->lives, by_thread, &same, &tasks[i]),
					       length_ns(whatif->lives, by_thread, &changed, &tasks[i]));
	replay_fini(&same);
	replay_fini(&changed);
	table_free(by_thread);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The mean; *p99 gets what 99 % are not above. */
static uint64_t mean_of(uint64_t *list, size_t count, uint64_t *p99)
{
	double sum = 0;

	if (!count)
		return *p99 = 0;
	qsort(list, count, sizeof(*list), by_number);
	for (size_t i = 0; i < count; i++)
		sum += list[i];
	*p99 = list[(count * 99 + 99) / 100 - 1];
	return sum / count;
}

struct whatif_task_sums whatif_sum_tasks(const struct whatif_task *tasks, const uint64_t *predicted_ns, size_t count)
{
	uint64_t *recorded = xcalloc(count + 1, sizeof(*recorded));
	uint64_t *predicted = xcalloc(count + 1, sizeof(*predicted));
	struct whatif_task_sums sums = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (predicted_ns[i] == UINT64_MAX)
			continue;
		recorded[sums.count] = tasks[i].end_ns - tasks[i].begin_ns;
		predicted[sums.count++] = predicted_ns[i];
	}
	sums.mean_ns = mean_of(recorded, sums.count, &sums.p99_ns);
	sums.predicted_mean_ns = mean_of(predicted, sums.count, &sums.predicted_p99_ns);
	free(recorded);
	free(predicted);
	return sums;
}
