/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences against the same done naively: two passes for deviations, a sum for the integral. */
#include "test.h"

#include <math.h>

#include "compare/difference.h"

enum { NUMBERS = 40 };

static uint32_t random_state;

static double pick(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state / 4294967296.0;
}

static bool is_near(double a, double b, double share)
{
	return fabs(a - b) <= share * fmax(fabs(a), fabs(b)) + 1e-12;
}

static double naive_variance(const double *values, size_t count, double *mean)
{
	double sum = 0;

	*mean = 0;
	for (size_t i = 0; i < count; i++)
		*mean += values[i] / count;
	for (size_t i = 0; i < count; i++)
		sum += (values[i] - *mean) * (values[i] - *mean);
	return count > 1 ? sum / (count - 1) : 0;
}

/* Simpson's rule over the middle of the density, whose rest is asked for. */
static double naive_chance(double t, double freedom)
{
	enum { STEPS = 20000 };
	double factor = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * M_PI);
	double width = fabs(t) / STEPS, sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		double x = i * width, y = factor * pow(1 + x * x / freedom, -(freedom + 1) / 2);

		sum += y * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
	}
	return 1 - 2 * sum * width / 3;
}

TEST(chances_are_those_of_the_density)
{
	random_state = 1;
	for (int i = 0; i < 300; i++) {
		double freedom = 1 + 100 * pick() * pick(), t = 12 * pick() - 6;

		if (!is_near(student_chance(t, freedom), naive_chance(t, freedom), 1e-6) &&
		    fabs(student_chance(t, freedom) - naive_chance(t, freedom)) > 1e-9)
			fail_msg("t %g, freedom %g: %g, not %g", t, freedom, student_chance(t, freedom),
				 naive_chance(t, freedom));
	}
	/* From tables of the distribution. */
	CHECK(is_near(student_chance(12.7062, 1), 0.05, 1e-4));
	CHECK(is_near(student_chance(2.2281, 10), 0.05, 1e-4));
	CHECK(is_near(student_chance(-2.5758, 1e7), 0.01, 1e-4));
	CHECK_EQUAL(student_chance(0, 5), 1);
	CHECK_EQUAL(student_chance(INFINITY, 5), 0);
}

TEST(samples_of_random_numbers_have_their_mean_and_deviation)
{
	random_state = 2;
	for (int round = 0; round < 1000; round++) {
		size_t count = 1 + NUMBERS * pick(), zeros = 10 * pick();
		double values[NUMBERS + 10] = { 0 }, mean, variance;
		struct sample sample = { 0 };

		for (size_t i = 0; i < count; i++) {
			values[i] = 1e6 + 1000 * pick();
			sample_add(&sample, values[i]);
		}
		sample = sample_with_zeros(sample, count + zeros);
		variance = naive_variance(values, count + zeros, &mean);
		CHECK_EQUAL(sample.count, count + zeros);
		CHECK(is_near(sample.mean, mean, 1e-12));
		if (!is_near(sample_variance(&sample), variance, 1e-6))
			fail_msg("round %d: %g, not %g", round, sample_variance(&sample), variance);
	}
}

static struct sample sample_of(const double *values, size_t count)
{
	struct sample sample = { 0 };

	for (size_t i = 0; i < count; i++)
		sample_add(&sample, values[i]);
	return sample;
}

TEST(a_known_difference_is_recorded_as_it_is)
{
	static const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
				    21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
	static const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
				    24.8, 20.2, 21.9, 22.1, 22.9, 30.0, 23.9 };
	struct sample x = sample_of(a, 15), y = sample_of(b, 15);
	struct difference d = difference_of(&x, &y);

	/* Welch's test of these gives t = 2.8, 28 degrees of freedom, p near 0.009. */
	CHECK(is_near(d.delta, 2.7667, 0.01));
	CHECK_THAT(d.chance, >, 0.005);
	CHECK_THAT(d.chance, <, 0.015);
	CHECK_EQUAL(d.boldness, 3);
	CHECK(is_near(d.effect, 1.03, 0.05));
}

TEST(what_does_not_spread_differs_for_certain_or_not_at_all)
{
	static const double ones[] = { 1, 1, 1 }, twos[] = { 2, 2, 2 };
	struct sample one = sample_of(ones, 3), two = sample_of(twos, 3), alone = sample_of(ones, 1);
	struct difference same = difference_of(&one, &one), other = difference_of(&one, &two);
	struct difference single = difference_of(&alone, &two);

	CHECK_EQUAL(same.delta, 0);
	CHECK_EQUAL(same.effect, 0);
	CHECK_EQUAL(same.chance, 1);
	CHECK_EQUAL(same.boldness, 1);
	CHECK_EQUAL(other.delta, 1);
	CHECK(isinf(other.effect));
	CHECK_EQUAL(other.chance, 0);
	CHECK_EQUAL(other.boldness, 5);
	CHECK(isnan(single.effect) && isnan(single.chance));
	CHECK_EQUAL(single.boldness, 5);
	CHECK_EQUAL(difference_share(&other), 1);
}

TEST(equal_samples_seem_to_differ_as_rarely_as_the_chance_says)
{
	enum { ROUNDS = 4000 };
	int seem = 0;

	random_state = 3;
	for (int round = 0; round < ROUNDS; round++) {
		struct sample samples[2] = { { 0 } };

		for (int i = 0; i < 50; i++)
			sample_add(&samples[i < 20], pick() + pick() + pick());
		seem += difference_of(&samples[0], &samples[1]).chance < 0.05;
	}
	CHECK_THAT(seem, >, 0.04 * ROUNDS);
	CHECK_THAT(seem, <, 0.06 * ROUNDS);
}

TEST(chances_grow_with_the_number_of_questions)
{
	struct difference d[] = { { .chance = 0.01 }, { .chance = NAN }, { .chance = 0.04 }, { .chance = 0.03 } };
	struct difference *list[] = { &d[0], &d[1], &d[2], &d[3] };

	differences_correct(list, 4);
	CHECK(is_near(d[0].chance, 0.03, 1e-9) && isnan(d[1].chance));
	CHECK(is_near(d[2].chance, 0.06, 1e-9) && is_near(d[3].chance, 0.06, 1e-9));
}
