// SPDX-License-Identifier: GPL-2.0-or-later
#include "model.h"

#include <assert.h>
#include <stdlib.h>

void model_init(struct model *model, uint32_t nmin)
{
	*model = (struct model){ .nmin = nmin };
}

void model_fini(struct model *model)
{
	free(model->changes);
}

void model_change(struct model *model, uint64_t time_ns, int active, int alive)
{
	model->alive += alive;
	assert(!model->count || model->changes[model->count - 1].time_ns <= time_ns);
	if (model->count == model->capacity) {
		model->capacity = model->capacity ? 2 * model->capacity : 64;
		model->changes = realloc(model->changes, model->capacity * sizeof(*model->changes));
		assert(model->changes);
	}
	model->changes[model->count++] = (struct model_change){ time_ns, active };
	model->active += active;
	assert(model->active >= 0 && model->alive >= model->active);
}

model_integral model_active_between(const struct model *model, uint64_t begin_ns, uint64_t end_ns)
{
	model_integral sum = 0;
	uint64_t last_ns = begin_ns;
	int64_t active = 0;

	for (size_t i = 0; i < model->count; i++) {
		const struct model_change *change = &model->changes[i];

		if (change->time_ns >= end_ns)
			break;
		if (change->time_ns > begin_ns) {
			sum += (model_integral)active * (change->time_ns - last_ns);
			last_ns = change->time_ns;
		}
		active += change->active;
	}
	return sum + (model_integral)active * (end_ns - last_ns);
}

uint64_t model_nmin_doubled(const struct model *model, int64_t alive)
{
	if (model->nmin)
		return 2ull * model->nmin;
	return alive > 2 ? alive : 2;
}

bool model_is_critical(const struct model *model, uint64_t begin_ns, uint64_t end_ns)
{
	model_integral length_ns = end_ns - begin_ns;

	return 2 * model_active_between(model, begin_ns, end_ns) <= length_ns * model_nmin_doubled(model, model->alive);
}

uint64_t model_wait_weight(const struct model *model, uint64_t wait_ns)
{
	return wait_ns / (model->alive > 0 ? model->alive : 1);
}

uint64_t model_keep(uint64_t weight_ns, uint64_t threshold_ns)
{
	uint64_t keep;

	if (weight_ns >= threshold_ns)
		return MODEL_CERTAIN;
	keep = (model_integral)MODEL_CERTAIN * weight_ns / threshold_ns;
	return keep > MODEL_CERTAIN >> 20 ? keep : MODEL_CERTAIN >> 20;
}

uint64_t model_wait_mean(uint64_t mean_ns, uint64_t wait_ns)
{
	const uint64_t max_ns = 4000000000;

	return (3 * mean_ns + (wait_ns < max_ns ? wait_ns : max_ns)) / 4;
}
