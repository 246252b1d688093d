/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/measures/parallelism.h"

#include <stdlib.h>

#include "base/memory.h"

void parallelism_fini(struct parallelism *p)
{
	free(p->time_at);
}

bool parallelism_is_critical(const struct parallelism *p, thread_ns integral, uint64_t length_ns)
{
	if (p->nmin_option)
		return integral <= (thread_ns)p->nmin_option * length_ns;
	if (p->alive < 2)
		return integral <= length_ns;
	/* N_min is N / 2, and a half of an odd number counts. */
	return 2 * integral <= (thread_ns)p->alive * length_ns;
}

static void add_time_at(struct parallelism *p, uint64_t dt_ns)
{
	size_t n = p->active < PARALLELISM_MAX ? p->active : PARALLELISM_MAX - 1;

	if (n >= p->time_at_count) {
		size_t count = n < 64 ? 64 : n * 2;

		p->time_at = xrealloc(p->time_at, count, sizeof(*p->time_at));
		for (size_t i = p->time_at_count; i < count; i++)
			p->time_at[i] = 0;
		p->time_at_count = count;
	}
	p->time_at[n] += dt_ns;
}

/* Makes the buckets wide enough to reach offset_ns from the begin. */
static void widen_buckets(struct parallelism *p, uint64_t offset_ns)
{
	while (offset_ns >> p->bucket_shift >= TIMELINE_BUCKETS) {
		for (size_t i = 0; i < TIMELINE_BUCKETS / 2; i++)
			p->buckets[i] = p->buckets[2 * i] + p->buckets[2 * i + 1];
		for (size_t i = TIMELINE_BUCKETS / 2; i < TIMELINE_BUCKETS; i++)
			p->buckets[i] = 0;
		p->bucket_shift++;
	}
}

static void add_to_buckets(struct parallelism *p, uint64_t from_ns, uint64_t to_ns)
{
	size_t i = from_ns >> p->bucket_shift;

	if (i < TIMELINE_BUCKETS && to_ns >> p->bucket_shift == i) {
		p->buckets[i] += (thread_ns)p->active * (to_ns - from_ns);
		return;
	}
	widen_buckets(p, to_ns);
	while (from_ns < to_ns) {
		uint64_t left_ns = (1ull << p->bucket_shift) - (from_ns & ((1ull << p->bucket_shift) - 1));
		uint64_t part_ns = to_ns - from_ns < left_ns ? to_ns - from_ns : left_ns;

		i = from_ns >> p->bucket_shift;
		p->buckets[i] += (thread_ns)p->active * part_ns;
		from_ns += part_ns;
	}
}

static void add_share(struct parallelism *p, uint64_t dt_ns)
{
	/* The division of 64 bits is several times faster and nearly always enough. */
	if (dt_ns < 1ull << 31) {
		uint64_t whole = (dt_ns << 32) + p->share_carry;

		p->share += whole / p->active;
		p->share_carry = whole % p->active;
	} else {
		fixed_ns whole = ((fixed_ns)dt_ns << 32) + p->share_carry;

		p->share += whole / p->active;
		p->share_carry = whole % p->active;
	}
}

void parallelism_advance(struct parallelism *p, uint64_t now_ns)
{
	uint64_t dt_ns;

	if (now_ns <= p->now_ns)
		return;
	dt_ns = now_ns - p->now_ns;
	if (p->alive) {
		add_to_buckets(p, p->now_ns - p->begin_ns, now_ns - p->begin_ns);
		add_time_at(p, dt_ns);
		p->wall_ns += dt_ns;
		p->end_ns = now_ns;
		if (p->active) {
			fixed_ns before = p->share;

			add_share(p, dt_ns);
			p->active_ns += dt_ns;
			p->integral += (thread_ns)p->active * dt_ns;
			if (parallelism_is_critical(p, p->active, 1)) {
				p->critical_ns += dt_ns;
				p->share_critical += p->share - before;
			}
		} else {
			p->stalled_ns += dt_ns;
			if (p->spinning)
				p->spun_ns += dt_ns;
		}
	}
	p->now_ns = now_ns;
}

void parallelism_change(struct parallelism *p, int active, int alive)
{
	p->active += active;
	p->alive += alive;
	if (p->active > p->active_max)
		p->active_max = p->active;
	if (p->alive > p->alive_max)
		p->alive_max = p->alive;
	if (!p->has_begun && p->alive) {
		p->has_begun = true;
		p->begin_ns = p->end_ns = p->now_ns;
	}
	p->past[p->change_count++ % PARALLELISM_PAST] = (struct parallelism_moment){
		.time_ns = p->now_ns,
		.active = p->active,
		.is_critical = parallelism_is_critical(p, p->active, 1),
	};
}

struct parallelism_moment parallelism_at(const struct parallelism *p, uint64_t time_ns)
{
	struct parallelism_moment moment = { 0 };

	for (uint64_t i = 0; i < p->change_count && i < PARALLELISM_PAST; i++) {
		moment = p->past[(p->change_count - 1 - i) % PARALLELISM_PAST];
		if (moment.time_ns <= time_ns)
			break;
	}
	return moment;
}

void parallelism_change_spinning(struct parallelism *p, int spinning)
{
	p->spinning += spinning;
}

/* Thread-ns in [0, offset_ns) from the begin, as if activity were even within a bucket. */
static double integral_up_to(const struct parallelism *p, double offset_ns)
{
	double width_ns = (double)(1ull << p->bucket_shift), sum = 0;
	double whole_ns = (double)(p->end_ns - p->begin_ns);

	for (size_t i = 0; i < TIMELINE_BUCKETS && i * width_ns < offset_ns; i++) {
		double end_ns = (i + 1) * width_ns;

		if (end_ns > whole_ns)
			end_ns = whole_ns;
		if (end_ns <= offset_ns)
			sum += (double)p->buckets[i];
		else
			sum += (double)p->buckets[i] * (offset_ns - i * width_ns) / (end_ns - i * width_ns);
	}
	return sum;
}

size_t parallelism_timeline(const struct parallelism *p, double *average, size_t count)
{
	uint64_t whole_ns = p->end_ns - p->begin_ns;
	double before = 0;

	if (count > whole_ns)
		count = whole_ns;
	for (size_t i = 0; i < count; i++) {
		double up_to = integral_up_to(p, (double)whole_ns * (i + 1) / count);

		average[i] = (up_to - before) * count / whole_ns;
		before = up_to;
	}
	return count;
}
