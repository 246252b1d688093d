/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/sampling_watch.h"

#include "account/sample_bias.h"
#include "collect/kernel.h"
#include "engine/engine.h"

static const uint64_t FIRST_NS = 125000000, WAIT_NS_MAX = 4000000000;

void sampling_watch_step(struct sampling_watch *watch, const struct engine *engine, struct kernel *kernel,
			 uint64_t now_ns)
{
	uint64_t period_ns = kernel_tick_sampling_ns(kernel);

	if (!period_ns || !engine->code || now_ns < watch->next_ns)
		return;
	if (watch->wait_ns && sample_bias_is_seen(engine->criticality, engine->code, period_ns)) {
		kernel_sample_off_tick(kernel);
		return;
	}
	watch->wait_ns = watch->wait_ns ? 2 * watch->wait_ns : FIRST_NS;
	if (watch->wait_ns > WAIT_NS_MAX)
		watch->wait_ns = WAIT_NS_MAX;
	watch->next_ns = now_ns + watch->wait_ns;
}
