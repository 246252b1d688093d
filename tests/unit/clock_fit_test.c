/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of clocks from exchanges, against clocks whose offset is known. */
#include "test.h"

#include <math.h>

#include "clocks/clock_fit.h"

enum { SAMPLES_MAX = 400, STRETCHES_MAX = 4 };

static const uint64_t begin_ns = 5000000000000ull;
static uint64_t random_state;

static double pick(double low, double high)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return low + (high - low) * (random_state >> 11) * 0x1p-53;
}

/* The peer's clock is ahead by value_ns + slope * (t - from_ns) from from_ns on. */
struct stretch {
	double from_ns, value_ns, slope;
};

struct world {
	struct stretch stretches[STRETCHES_MAX];
	size_t stretch_count;
	double delay_min_ns, delay_spread_ns, period_ns;
	struct clock_sample samples[SAMPLES_MAX];
	size_t sample_count;
	double end_ns;
};

/* Times are counted from begin_ns on. */
static double true_offset(const struct world *world, double t)
{
	const struct stretch *s = world->stretches;

	while (s + 1 < world->stretches + world->stretch_count && t >= s[1].from_ns)
		s++;
	return s->value_ns + s->slope * (t - s->from_ns);
}

static uint64_t peer_clock(const struct world *world, double t)
{
	return begin_ns + (int64_t)floor(t + true_offset(world, t));
}

/* Most are short, some are long, and one way may take much longer than the other. */
static double delay(const struct world *world)
{
	double part = pick(0, 1);

	return world->delay_min_ns + world->delay_spread_ns * part * part * part * part;
}

static void exchange(struct world *world, double t)
{
	double there = t + delay(world), answered = there + pick(0, 20000), back = answered + delay(world);

	world->samples[world->sample_count++] = (struct clock_sample){
		.t0 = begin_ns + (uint64_t)t,
		.t1 = peer_clock(world, there),
		.t2 = peer_clock(world, answered),
		.t3 = begin_ns + (uint64_t)ceil(back),
	};
}

static void run(struct world *world, size_t count)
{
	double t = 0;

	world->sample_count = 0;
	for (size_t i = 0; i < count; i++) {
		exchange(world, t);
		t += world->period_ns * pick(0.5, 1.5);
	}
	world->end_ns = t;
}

/* A skew of up to 1 s and a drift of up to 200 ppm, and delays as a loopback device or as a network has them. */
static void make(struct world *world)
{
	*world = (struct world){
		.stretches = { { 0, pick(-1e9, 1e9), pick(-200e-6, 200e-6) } },
		.stretch_count = 1,
		.delay_min_ns = exp(pick(log(3e3), log(3e5))),
		.period_ns = exp(pick(log(1e6), log(1e9))),
	};
	world->delay_spread_ns = world->delay_min_ns * pick(0, 30);
}

/* How many of some moments, between the samples or a little behind them, the error is above what is stated of. */
static int wrong(const struct world *world, const struct clock_fit *fit)
{
	int count = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t uncertainty_ns, time_ns = pick(-0.05, 1.05) * world->end_ns + begin_ns;
		double offset_ns = clock_fit_offset_ns(fit, time_ns, &uncertainty_ns);
		double error_ns = fabs(offset_ns - true_offset(world, (int64_t)(time_ns - begin_ns)));

		count += error_ns > uncertainty_ns;
	}
	return count;
}

TEST(the_offset_of_one_exchange_is_that_of_ntp)
{
	struct clock_sample sample = { .t0 = 1000, .t1 = 5100, .t2 = 5200, .t3 = 1400 };

	CHECK_EQUAL(clock_sample_offset_ns(&sample), 3950);
	CHECK_EQUAL(clock_sample_round_trip_ns(&sample), 300);
	CHECK(clock_sample_is_possible(&sample));
}

TEST(what_no_two_clocks_show_is_left_out)
{
	static const struct clock_sample samples[] = {
		{ .t0 = 100, .t1 = 50, .t2 = 60, .t3 = 99 },
		{ .t0 = 100, .t1 = 60, .t2 = 50, .t3 = 200 },
		{ .t0 = 100, .t1 = 50, .t2 = 60, .t3 = 105 },
		{ .t0 = UINT64_MAX, .t1 = 0, .t2 = 0, .t3 = UINT64_MAX },
		{ .t0 = 0, .t1 = UINT64_MAX - 1, .t2 = UINT64_MAX, .t3 = 1 },
		{ .t0 = 0, .t1 = 0, .t2 = 0, .t3 = 1ull << 62 },
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		CHECK(!clock_sample_is_possible(&samples[i]));
	CHECK(!clock_fit_new(samples, sizeof(samples) / sizeof(*samples)));
	CHECK(!clock_fit_new(samples, 0));
}

TEST(the_sample_with_the_smallest_round_trip_is_the_best)
{
	static const struct clock_sample samples[] = { { 0, 10, 20, 40 }, { 50, 60, 70, 75 }, { 80, 90, 91, 99 } };

	CHECK_EQUAL(clock_sample_best(samples, 3) - samples, 1);
}

TEST(after_one_exchange_the_uncertainty_grows_by_the_greatest_drift)
{
	struct clock_sample sample = { .t0 = begin_ns, .t1 = 1000, .t2 = 1000, .t3 = begin_ns + 1000 };
	struct clock_fit *fit = clock_fit_new(&sample, 1);
	uint64_t now_ns, later_ns;

	clock_fit_offset_ns(fit, begin_ns, &now_ns);
	clock_fit_offset_ns(fit, begin_ns + 1000000000, &later_ns);
	CHECK_THAT(now_ns, >=, 500);
	CHECK_THAT(now_ns, <, 1010);
	CHECK_THAT(later_ns, >=, CLOCK_DRIFT_PPM_MAX * 1000ull);
	clock_fit_free(fit);
}

TEST(the_error_is_never_above_what_is_stated)
{
	static struct world world;
	int pieces = 0;

	random_state = 1;
	for (int round = 0; round < 10000; round++) {
		struct clock_fit *fit;

		make(&world);
		run(&world, 1 + pick(0, 60));
		fit = clock_fit_new(world.samples, world.sample_count);
		CHECK_EQUAL(wrong(&world, fit), 0);
		pieces += clock_fit_piece_count(fit);
		CHECK_THAT(fabs(clock_fit_piece(fit, 0).drift_ppm - world.stretches[0].slope * 1e6), <=,
			   clock_fit_piece(fit, 0).drift_ppm_uncertainty + 1e-6);
		clock_fit_free(fit);
	}
	CHECK_EQUAL(pieces, 10000);
}

/* One way takes longer than the other one, always: only what programs send each other shows it. */
TEST(a_message_that_would_come_before_it_is_sent_moves_the_line_as_far_as_it_must)
{
	struct clock_sample samples[10];
	struct clock_fit *fit;
	uint64_t at_ns = begin_ns + 4500000000ull, uncertainty_ns, less_ns;

	for (int i = 0; i < 10; i++) {
		uint64_t t0 = begin_ns + i * 1000000000ull;

		samples[i] = (struct clock_sample){ t0, t0 + 10000, t0 + 10000, t0 + 410000 };
	}
	fit = clock_fit_new(samples, 10);
	CHECK_THAT(llabs(clock_fit_offset_ns(fit, at_ns, &uncertainty_ns) + 195000), <, 1000);
	CHECK_THAT(uncertainty_ns, >=, 195000);
	/* Sent when the peer's clock showed 50 us less than this one when it came. */
	CHECK(clock_fit_require(fit, at_ns, -50000, false));
	CHECK_THAT(clock_fit_offset_ns(fit, at_ns, &less_ns), >=, -50001);
	CHECK_THAT(clock_fit_offset_ns(fit, at_ns, NULL), <=, 10001);
	/* No clocks that have shown the samples are 20 us apart. */
	CHECK(!clock_fit_require(fit, at_ns, 20000, false));
	CHECK_THAT(clock_fit_offset_ns(fit, at_ns, NULL), <=, 10001);
	clock_fit_free(fit);
}

TEST(a_time_of_the_peer_leads_back_to_ones_own)
{
	static struct world world;

	random_state = 2;
	for (int round = 0; round < 1000; round++) {
		struct clock_fit *fit;

		make(&world);
		run(&world, 30);
		fit = clock_fit_new(world.samples, world.sample_count);
		for (int i = 0; i < 10; i++) {
			uint64_t time_ns = begin_ns + pick(0, 1) * world.end_ns;
			uint64_t peer_ns = time_ns + clock_fit_offset_ns(fit, time_ns, NULL);

			CHECK_THAT(llabs((int64_t)(clock_fit_time_ns(fit, peer_ns, NULL) - time_ns)), <=, 1);
		}
		clock_fit_free(fit);
	}
}

static void change_once(struct world *world, bool is_set)
{
	double at_ns = pick(0.2, 0.8) * world->end_ns, before = true_offset(world, at_ns);
	double size_ns = exp(pick(log(1e3), log(1e9))) * (pick(0, 1) < 0.5 ? -1 : 1);

	world->stretches[1] = (struct stretch){ at_ns, before, world->stretches[0].slope };
	if (is_set)
		world->stretches[1].value_ns += size_ns;
	else
		world->stretches[1].slope = pick(-200e-6, 200e-6);
	world->stretch_count = 2;
}

static void check_changes(bool is_set)
{
	static struct world world;
	int wrong_count = 0, found = 0;

	random_state = 3 + is_set;
	for (int round = 0; round < 10000; round++) {
		struct clock_fit *fit;

		make(&world);
		run(&world, 40 + pick(0, 60));
		change_once(&world, is_set);
		run(&world, world.sample_count);
		fit = clock_fit_new(world.samples, world.sample_count);
		wrong_count += wrong(&world, fit);
		found += clock_fit_piece_count(fit) > 1;
		clock_fit_free(fit);
	}
	CHECK_EQUAL(wrong_count, 0);
	CHECK_THAT(found, >, 3000);
}

TEST(a_clock_that_is_set_is_followed)
{
	check_changes(true);
}

TEST(a_rate_that_changes_is_followed)
{
	check_changes(false);
}

/* Delays of a loopback device, one exchange of 8 a tenth of a second. */
static void run_loopback(struct world *world)
{
	world->sample_count = 0;
	for (int i = 0; i < 100; i++) {
		struct clock_sample *begin = &world->samples[world->sample_count], best;

		for (int n = 0; n < 8; n++)
			exchange(world, i * 1e8 + n * 1e6);
		best = *clock_sample_best(begin, 8);
		*begin = best;
		world->sample_count = i + 1;
	}
	world->end_ns = 1e10;
}

/* Mean error of a fit by least squares, which has no bounds, of the same samples. */
static double least_squares_error(const struct world *world)
{
	double n = world->sample_count, x = 0, y = 0, xx = 0, xy = 0, sum = 0, slope;

	for (size_t i = 0; i < world->sample_count; i++) {
		double t = world->samples[i].t0 - begin_ns, offset = clock_sample_offset_ns(&world->samples[i]);

		offset -= world->stretches[0].value_ns;
		x += t / n, y += offset / n, xx += t * t / n, xy += t * offset / n;
	}
	slope = (xy - x * y) / (xx - x * x);
	for (int i = 0; i < 20; i++) {
		double t = pick(0, 1) * world->end_ns;

		sum += fabs(world->stretches[0].value_ns + y + slope * (t - x) - true_offset(world, t));
	}
	return sum / 20;
}

TEST(with_delays_of_loopback_the_error_is_below_20_us)
{
	static struct world world;
	double sum_ns = 0, squares_ns = 0;

	random_state = 5;
	for (int round = 0; round < 100; round++) {
		struct clock_fit *fit;

		make(&world);
		world.delay_min_ns = pick(5000, 20000);
		world.delay_spread_ns = pick(20000, 200000);
		run_loopback(&world);
		fit = clock_fit_new(world.samples, world.sample_count);
		CHECK_EQUAL(wrong(&world, fit), 0);
		for (int i = 0; i < 20; i++) {
			uint64_t time_ns = begin_ns + pick(0, 1) * world.end_ns;
			double error_ns = fabs(clock_fit_offset_ns(fit, time_ns, NULL) -
					       true_offset(&world, (int64_t)(time_ns - begin_ns)));

			CHECK_THAT(error_ns, <, 20000);
			sum_ns += error_ns;
		}
		squares_ns += least_squares_error(&world);
		clock_fit_free(fit);
	}
	print_message("mean error %.0f ns; by least squares %.0f ns\n", sum_ns / 2000, squares_ns / 100);
}
