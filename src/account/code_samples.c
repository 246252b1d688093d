/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/code_samples.h"

#include <stdlib.h>
#include <string.h>

#include "account/sample_bias.h"
#include "account/thread_rows.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"

/*
 * As space gets short, new samples are kept apart by less: first no longer by thread, then no longer by place
 * within the innermost function.
 */
enum {
	SAMPLES_MAX = 1 << 17, /* about 30 MB */
	BY_THREAD_MAX = SAMPLES_MAX / 2,
	BY_PLACE_MAX = SAMPLES_MAX / 4 * 3,
	STRATA_MAX = 1 << 16,
};

static const double PERIOD_USUAL_NS = 4000000;

struct code_samples {
	struct arena *arena;
	struct table *by_hash, *by_path, *strata_by_thread[CODE_SOURCES];
	struct code_sample **list;
	size_t count, capacity;
	struct code_stratum **strata; /* the first of each source, in their order, is that of several threads */
	size_t stratum_count, stratum_capacity;
	uint64_t sample_count[CODE_SOURCES], with_stack;
	bool are_instead;
	struct sample_bias *bias;
};

static struct code_stratum *add_stratum(struct code_samples *samples, uint32_t thread, enum code_source source)
{
	struct code_stratum *stratum = arena_alloc(samples->arena, sizeof(*stratum));

	ARRAY_GROW(samples->strata, samples->stratum_count, samples->stratum_capacity, 64);
	stratum->thread = thread;
	stratum->source = source;
	samples->strata[samples->stratum_count++] = stratum;
	return stratum;
}

struct code_samples *code_samples_new(void)
{
	struct code_samples *samples = xcalloc(1, sizeof(*samples));

	samples->arena = arena_new();
	samples->by_hash = table_new();
	samples->by_path = table_new();
	samples->bias = sample_bias_new();
	for (size_t source = 0; source < CODE_SOURCES; source++) {
		samples->strata_by_thread[source] = table_new();
		add_stratum(samples, 0, source);
	}
	return samples;
}

void code_samples_free(struct code_samples *samples)
{
	if (!samples)
		return;
	arena_free(samples->arena);
	table_free(samples->by_hash);
	table_free(samples->by_path);
	for (size_t source = 0; source < CODE_SOURCES; source++)
		table_free(samples->strata_by_thread[source]);
	sample_bias_free(samples->bias);
	free(samples->list);
	free(samples->strata);
	free(samples);
}

static struct code_stratum *get_stratum(struct code_samples *samples, uint32_t thread, enum code_source source)
{
	struct code_stratum *stratum = table_find(samples->strata_by_thread[source], thread);

	if (stratum)
		return stratum;
	if (samples->stratum_count == STRATA_MAX)
		return samples->strata[source];
	stratum = add_stratum(samples, thread, source);
	table_put(samples->strata_by_thread[source], thread, stratum);
	return stratum;
}

static bool is_same(const struct code_sample *a, const struct code_sample *b)
{
	return a->stratum == b->stratum && a->stack == b->stack && a->ip == b->ip && a->kernel_ip == b->kernel_ip &&
	       a->pid == b->pid && a->exec_count == b->exec_count;
}

static uint64_t hash_of(const struct code_sample *key)
{
	uint64_t space = (uint64_t)key->exec_count << 32 | key->pid;

	return hash_u64(key->ip ^ hash_u64(key->kernel_ip ^
					   hash_u64(key->stack ^
						    hash_u64(space ^ hash_u64(key->stratum->thread ^
									      (uint64_t)key->stratum->source << 32)))));
}

static struct code_sample *find(const struct code_samples *samples, const struct code_sample *key)
{
	struct code_sample *sample = table_find(samples->by_hash, hash_of(key));

	while (sample && !is_same(sample, key))
		sample = sample->next;
	return sample;
}

static bool is_kin(const struct code_sample *a, const struct code_sample *b)
{
	return a->stack == b->stack && !a->kernel_ip == !b->kernel_ip && a->pid == b->pid &&
	       a->exec_count == b->exec_count && a->stratum->source == b->stratum->source;
}

/* The first of the call path; itself if it is that, or where there is no call path. */
static const struct code_sample *kin_of(struct code_samples *samples, struct code_sample *sample)
{
	uint64_t space = (uint64_t)sample->exec_count << 32 | sample->pid,
		 kind = sample->stratum->source * 2u + !sample->kernel_ip;
	uint64_t hash = hash_u64(sample->stack ^ hash_u64(space ^ hash_u64(kind)));
	const struct code_sample *first = table_find(samples->by_path, hash);

	if (!first && sample->stack)
		table_put(samples->by_path, hash, sample);
	return first && sample->stack && is_kin(first, sample) ? first : sample;
}

static struct code_sample *add(struct code_samples *samples, const struct code_sample *key)
{
	struct code_sample *sample = arena_alloc(samples->arena, sizeof(*sample));

	*sample = *key;
	sample->kin = kin_of(samples, sample);
	sample->next = table_find(samples->by_hash, hash_of(key));
	table_put(samples->by_hash, hash_of(key), sample);
	ARRAY_GROW(samples->list, samples->count, samples->capacity, 256);
	samples->list[samples->count++] = sample;
	return sample;
}

/* The one for this key, kept apart from others as far as there is space. NULL: there is none. */
static struct code_sample *get(struct code_samples *samples, struct code_sample *key)
{
	struct code_sample *sample = find(samples, key);

	if (sample)
		return sample;
	if (samples->count >= BY_THREAD_MAX) {
		key->stratum->is_shared = true;
		key->stratum = samples->strata[key->stratum->source];
		sample = find(samples, key);
	}
	if (!sample && samples->count >= BY_PLACE_MAX) {
		key->ip = key->kernel_ip = 0;
		sample = find(samples, key);
	}
	if (!sample && samples->count < SAMPLES_MAX)
		sample = add(samples, key);
	return sample;
}

static void add_weights(struct code_weights *weights, const double *weight)
{
	weights->count++;
	for (size_t i = 0; i < CODE_QUANTITIES; i++) {
		weights->sum[i] += weight[i];
		weights->squares[i] += weight[i] * weight[i];
	}
}

double code_samples_unit(const struct ev_sched_sample *e)
{
	return e->period_ns ? e->period_ns / PERIOD_USUAL_NS : 1;
}

const struct code_sample *code_samples_add(struct code_samples *samples, struct thread_row *row, uint64_t now_ns,
					   const struct ev_sched_sample *e, uint32_t active, bool is_critical)
{
	const struct thread *thread = row->thread;
	enum code_source source = e->role == SAMPLE_REGULAR ? CODE_REGULAR : CODE_BY_TIMERS;
	double unit = code_samples_unit(e), share = active ? unit / active : 0;
	double weight[CODE_QUANTITIES] = { unit, share, is_critical ? share : 0 };
	struct code_sample *sample, key = {
		.stratum = get_stratum(samples, row->number, source),
		.pid = thread->pid,
		.exec_count = thread->exec_count,
		.first_ns = now_ns,
		.stack = e->stack,
		.ip = e->ip,
		.kernel_ip = e->kernel_ip,
		.cause = SLICE_CAUSES,
	};

	memcpy(key.name, thread->name, sizeof(key.name));
	sample_bias_add(samples->bias, e, is_critical && active ? 1.0 / active : 0);
	samples->are_instead |= e->role == SAMPLE_INSTEAD;
	sample = get(samples, &key);
	if (!sample)
		return NULL;
	samples->sample_count[source]++;
	samples->with_stack += !!e->stack;
	add_weights(&sample->weights, weight);
	add_weights(&sample->stratum->all, weight);
	row->code[row->code_count++ % ROW_CODE_MAX] = sample;
	return sample;
}

/* The majority's vote (Boyer and Moore, 1981). */
void code_samples_end_slice(struct thread_row *row, enum wait_cause cause, const struct wait_facts *facts)
{
	size_t count = row->code_count < ROW_CODE_MAX ? row->code_count : ROW_CODE_MAX;

	row->code_count = 0;
	for (size_t i = 0; facts && i < count; i++) {
		struct code_sample *sample = row->code[i];

		if (sample->cause == cause) {
			sample->cause_votes++;
		} else if (sample->cause_votes) {
			sample->cause_votes--;
		} else {
			sample->cause = cause;
			sample->facts = *facts;
			sample->cause_votes = 1;
		}
	}
}

uint64_t code_samples_with_stack(const struct code_samples *samples)
{
	return samples->with_stack;
}

uint64_t code_samples_count(const struct code_samples *samples, enum code_source source)
{
	return samples->sample_count[source];
}

bool code_samples_are_instead(const struct code_samples *samples)
{
	return samples->are_instead;
}

const struct sample_bias *code_samples_bias(const struct code_samples *samples)
{
	return samples->bias;
}

struct code_sample *code_samples_at(const struct code_samples *samples, size_t index)
{
	return index < samples->count ? samples->list[index] : NULL;
}

struct code_stratum *code_samples_stratum(const struct code_samples *samples, size_t index)
{
	return index < samples->stratum_count ? samples->strata[index] : NULL;
}

struct code_stratum *code_samples_stratum_of(const struct code_samples *samples, uint32_t thread,
					     enum code_source source)
{
	return table_find(samples->strata_by_thread[source], thread);
}
