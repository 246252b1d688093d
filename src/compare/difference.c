/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/difference.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* --- Student's t ------------------------------------------------------------------------------ */

/* Of the incomplete beta function, by Lentz's method. Converges quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	enum { TERMS_MAX = 10000 };
	const double tiny = 1e-300, enough = 1e-15;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;

		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;

			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			h *= step;
		}
		if (fabs(step - 1) < enough)
			break;
	}
	return h;
}

/* Regularised. x and y add up to 1; both are given, for the smaller one loses its digits otherwise. */
static double incomplete_beta(double a, double b, double x, double y)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double student_chance(double t, double freedom)
{
	double all = freedom + t * t;

	return isinf(t) ? 0 : incomplete_beta(freedom / 2, 0.5, freedom / all, t * t / all);
}

/* --- Differences ------------------------------------------------------------------------------ */

/* Zero by zero is not a difference. */
static double ratio(double delta, double scale)
{
	if (scale > 0)
		return delta / scale;
	return delta == 0 ? 0 : copysign(INFINITY, delta);
}

/* What says how bold it is, and where the levels 2 to 5 begin. */
static unsigned int boldness_of(double value, const double limits[BOLDNESS_MAX - 1])
{
	unsigned int level = 1;

	while (level < BOLDNESS_MAX && fabs(value) >= limits[level - 1])
		level++;
	return level;
}

/* The variances of both means, and the degrees of freedom that Welch and Satterthwaite give their sum. */
static void compare_spread(struct difference *out)
{
	static const double limits[] = { 1, 2, 4, 8 };
	const struct sample *a = &out->of[0], *b = &out->of[1];
	double x = sample_variance(a) / a->count, y = sample_variance(b) / b->count;
	double pooled = (a->squares + b->squares) / (a->count + b->count - 2);
	double t = ratio(out->delta, sqrt(x + y));

	out->effect = ratio(out->delta, pooled > 0 ? sqrt(pooled) : 0);
	out->boldness = boldness_of(t, limits);
	if (isinf(t) || t == 0)
		out->chance = t == 0;
	else
		out->chance = student_chance(t, (x + y) * (x + y) / (x * x / (a->count - 1) + y * y / (b->count - 1)));
}

struct difference difference_of(const struct sample *first, const struct sample *second)
{
	/* Of one number each, the change must do. */
	static const double limits[] = { 0.05, 0.1, 0.25, 0.5 };
	struct difference out = {
		.of = { *first, *second },
		.delta = second->mean - first->mean,
		.effect = NAN,
		.chance = NAN,
	};

	if (first->count > 1 && second->count > 1)
		compare_spread(&out);
	else
		out.boldness = boldness_of(ratio(out.delta, fmax(fabs(first->mean), fabs(second->mean))), limits);
	return out;
}

double difference_share(const struct difference *difference)
{
	return ratio(difference->delta, difference->of[0].mean);
}

static int by_chance(const void *a, const void *b)
{
	const struct difference *x = *(struct difference *const *)a, *y = *(struct difference *const *)b;

	return x->chance < y->chance ? -1 : x->chance > y->chance;
}

void differences_correct(struct difference *const *differences, size_t count)
{
	struct difference **known = xcalloc(count + 1, sizeof(struct difference *));
	size_t known_count = 0;
	double least = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(differences[i]->chance))
			known[known_count++] = differences[i];
	if (known_count)
		qsort(known, known_count, sizeof(struct difference *), by_chance);
	for (size_t i = 0; i < known_count; i++) {
		least = fmax(least, fmin(1, known[i]->chance * (known_count - i)));
		known[i]->chance = least;
	}
	free(known);
}
