/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live/sampling_watch.h"

#include "account/code_samples.h"
#include "account/sample_bias.h"
#include "collect/kernel.h"
#include "engine/engine.h"
#include "session/backlog.h"
#include "session/session.h"

static const uint64_t FIRST_NS = 125000000, WAIT_NS_MAX = 4000000000;

/*
 * Periods of the timers beside ticks, in periods of the ticks: about 50 samples of each CPU between one look and the next,
 * until that would cost too little to matter. By that fraction they come to all moments between two ticks evenly.
 */
enum { DOUBLINGS_MAX = 4 };
static const double golden_ratio = 0.618033988749895;

/* The chance of a false alarm, over all looks: those of a run as long as one likes have this sum. */
static const double false_alarms_max = 1e-3;

static double chance_of_look(uint64_t look)
{
	return false_alarms_max / ((double)look * (look + 1));
}

static void sample_beside(const struct sampling_watch *watch, struct kernel *kernel, uint64_t tick_ns)
{
	uint64_t doublings = watch->looks ? watch->looks - 1 : 0;

	if (doublings <= DOUBLINGS_MAX)
		kernel_sample_beside_ticks(kernel, (uint32_t)(((1 << doublings) + golden_ratio) * tick_ns));
}

/* Which code samples meet is known at once; by how much of the time, when the analyses have had all events. */
static bool is_bias_seen(const struct sampling_watch *watch, const struct engine *engine)
{
	double chance = chance_of_look(watch->looks);

	return sample_bias_is_seen(watch->bias, NULL, chance) ||
	       (backlog_is_empty(engine->backlog) &&
		sample_bias_is_seen(code_samples_bias(engine->code), engine->criticality, chance));
}

static void on_sample(void *data, const struct ev_header *header)
{
	struct sampling_watch *watch = data;

	sample_bias_add(watch->bias, (const struct ev_sched_sample *)header, 0);
}

void sampling_watch_open(struct sampling_watch *watch, struct session *session)
{
	static const struct event_handler handlers[] = { { EV_SCHED_SAMPLE, on_sample }, { 0, NULL } };

	watch->bias = sample_bias_new();
	session_subscribe(session, handlers, watch);
}

void sampling_watch_close(struct sampling_watch *watch)
{
	sample_bias_free(watch->bias);
	watch->bias = NULL;
}

void sampling_watch_step(struct sampling_watch *watch, const struct engine *engine, struct kernel *kernel,
			 uint64_t now_ns)
{
	uint64_t period_ns = kernel_tick_sampling_ns(kernel);

	if (!period_ns || !engine->code || now_ns < watch->next_ns)
		return;
	if (!watch->looks && !kernel_counts(kernel).threads_alive)
		return;
	if (watch->looks && is_bias_seen(watch, engine)) {
		kernel_sample_off_tick(kernel);
		return;
	}
	sample_beside(watch, kernel, period_ns);
	watch->looks++;
	watch->wait_ns = watch->wait_ns ? 2 * watch->wait_ns : FIRST_NS;
	if (watch->wait_ns > WAIT_NS_MAX)
		watch->wait_ns = WAIT_NS_MAX;
	watch->next_ns = now_ns + watch->wait_ns;
}
