/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clocks/clock_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "clocks/line_set.h"

static const double seconds = 1e9, slack_ns = 1;           /* clocks are read in whole ns */
static const double slope_max = CLOCK_DRIFT_PPM_MAX * 1e3; /* ns a second */

/* The bounds of a sample: times in seconds and offsets in ns from those of the fit's origin. */
struct bounds {
	double t0, t3, low_ns, high_ns;
};

struct piece {
	struct line line;
	struct line_set set;
	size_t first, last;                   /* samples that it was made of */
	double until;                         /* it holds before that, s */
	double doubtful_from, doubtful_until; /* the next one may hold there, too */
};

struct clock_fit {
	struct bounds *bounds;
	size_t count;
	struct piece *pieces;
	size_t piece_count;
	uint64_t origin_ns, round_trip_ns;
	int64_t origin_offset_ns;
};

/* --- Making it ------------------------------------------------------------------------------------ */

static void add_bounds(struct clock_fit *fit, const struct clock_sample *sample)
{
	uint64_t round_trip_ns = clock_sample_round_trip_ns(sample);

	if (!fit->count) {
		fit->origin_ns = sample->t0;
		fit->origin_offset_ns = clock_sample_offset_ns(sample);
	}
	if (!fit->count || round_trip_ns < fit->round_trip_ns)
		fit->round_trip_ns = round_trip_ns;
	fit->bounds[fit->count++] = (struct bounds){
		.t0 = (int64_t)(sample->t0 - fit->origin_ns) / seconds,
		.t3 = (int64_t)(sample->t3 - fit->origin_ns) / seconds,
		.low_ns = (int64_t)(sample->t2 - sample->t3) - fit->origin_offset_ns - slack_ns,
		.high_ns = (int64_t)(sample->t1 - sample->t0) - fit->origin_offset_ns + slack_ns,
	};
}

/* All lines that one sample allows. */
static struct line_set set_of(const struct bounds *b)
{
	double reach_ns = slope_max * (fabs(b->t0) + fabs(b->t3)) + slack_ns;
	struct line_set set = line_set_of(b->low_ns - reach_ns, b->high_ns + reach_ns, slope_max);

	line_set_cut(&set, b->t0, b->high_ns, true);
	line_set_cut(&set, b->t3, b->low_ns, false);
	return set;
}

/* Takes a sample in; false: no line is left, and the set is as it was. */
static bool cut(struct line_set *set, const struct bounds *b)
{
	struct line_set smaller = *set;

	if (!line_set_cut(&smaller, b->t0, b->high_ns, true) || !line_set_cut(&smaller, b->t3, b->low_ns, false))
		return false;
	*set = smaller;
	return true;
}

/* From one sample on, forwards, as far as one line goes: the first one that it does not reach. */
static size_t reach_forwards(const struct clock_fit *fit, size_t first)
{
	struct line_set set = set_of(&fit->bounds[first]);
	size_t at = first + 1;

	while (at < fit->count && cut(&set, &fit->bounds[at]))
		at++;
	return at;
}

/* The same backwards from the one before end: the first one that it reaches. */
static size_t reach_backwards(const struct clock_fit *fit, size_t end)
{
	struct line_set set = set_of(&fit->bounds[end - 1]);
	size_t at = end - 1;

	while (at && cut(&set, &fit->bounds[at - 1]))
		at--;
	return at;
}

/* The first sample of each piece when they are made forwards, and how many there are. */
static size_t find_firsts(const struct clock_fit *fit, size_t *firsts)
{
	size_t count = 0;

	for (size_t at = 0; at < fit->count; at = reach_forwards(fit, at))
		firsts[count++] = at;
	return count;
}

/*
 *	made forwards:   |---- j ----------|---- j + 1 --      the change is not behind the sample where j + 1 begins
 *	made backwards:  |---- j ---|--------- j + 1 ----      and not before the last one of j
 *	certain:         |---- j ---|      |---- j + 1 --
 */
static void put_piece(struct clock_fit *fit, size_t first, size_t last)
{
	struct piece *piece = &fit->pieces[fit->piece_count++];

	piece->first = first;
	piece->last = last;
	piece->set = set_of(&fit->bounds[first]);
	for (size_t i = first + 1; i <= last; i++)
		cut(&piece->set, &fit->bounds[i]);
	piece->line = line_set_middle(&piece->set);
}

static void set_limits(struct clock_fit *fit)
{
	for (size_t i = 0; i < fit->piece_count; i++) {
		struct piece *piece = &fit->pieces[i];

		piece->doubtful_from = piece->doubtful_until = piece->until = INFINITY;
		if (i + 1 == fit->piece_count)
			break;
		piece->doubtful_from = fit->bounds[piece->last].t0;
		piece->doubtful_until = fit->bounds[fit->pieces[i + 1].first].t3;
		piece->until = (piece->doubtful_from + piece->doubtful_until) / 2;
	}
}

static void make_pieces(struct clock_fit *fit)
{
	size_t *firsts = xcalloc(fit->count, sizeof(*firsts)), count = find_firsts(fit, firsts);
	size_t *backwards = xcalloc(count, sizeof(*backwards)), end = fit->count;

	for (size_t i = count; i--;)
		backwards[i] = end = end ? reach_backwards(fit, end) : 0;
	fit->pieces = xcalloc(count, sizeof(*fit->pieces));
	for (size_t i = 0; i < count; i++) {
		size_t next = i + 1 < count ? firsts[i + 1] : fit->count;
		size_t last = next - 1;

		if (i + 1 < count && backwards[i + 1] > firsts[i] && backwards[i + 1] < next)
			last = backwards[i + 1] - 1;
		put_piece(fit, firsts[i], last);
	}
	set_limits(fit);
	free(firsts);
	free(backwards);
}

struct clock_fit *clock_fit_new(const struct clock_sample *samples, size_t count)
{
	struct clock_fit *fit = xcalloc(1, sizeof(*fit));

	if (count > CLOCK_SAMPLES_MAX)
		count = CLOCK_SAMPLES_MAX;
	fit->bounds = xcalloc(count, sizeof(*fit->bounds));
	for (size_t i = 0; i < count; i++)
		if (clock_sample_is_possible(&samples[i]))
			add_bounds(fit, &samples[i]);
	if (!fit->count) {
		clock_fit_free(fit);
		return NULL;
	}
	make_pieces(fit);
	return fit;
}

void clock_fit_free(struct clock_fit *fit)
{
	if (!fit)
		return;
	free(fit->bounds);
	free(fit->pieces);
	free(fit);
}

/* --- Asking it ------------------------------------------------------------------------------------ */

static struct piece *piece_at(const struct clock_fit *fit, double time)
{
	size_t low = 0, high = fit->piece_count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (time >= fit->pieces[middle].until)
			low = middle + 1;
		else
			high = middle;
	}
	return &fit->pieces[low];
}

/* How far a line may be off where the sample was, whatever the clocks did elsewhere. */
static double deviation_ns(const struct bounds *b, const struct line *line)
{
	return fmax(b->high_ns - line_at(line, b->t0), line_at(line, b->t3) - b->low_ns);
}

/* The first sample that is not before the time, or the last one. */
static size_t sample_after(const struct clock_fit *fit, double time)
{
	size_t low = 0, high = fit->count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fit->bounds[middle].t0 < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * How far a line may be off at a time beside the sample near, if rates were kept from the sample far to that time: what
 * both samples allow at least.
 */
static double reach_ns(const struct clock_fit *fit, const struct line *line, size_t far, size_t near, double time)
{
	const struct bounds *a = &fit->bounds[far], *b = &fit->bounds[near];
	double at_a_ns = deviation_ns(a, line), at_b_ns = deviation_ns(b, line);

	if (a->t0 == b->t0)
		return at_b_ns;
	return at_b_ns + (at_a_ns + at_b_ns) * fabs((time - b->t0) / (b->t0 - a->t0));
}

static size_t within(const struct piece *piece, size_t sample)
{
	return sample < piece->first ? piece->first : sample > piece->last ? piece->last : sample;
}

/*
 * The lines of the polygon may be off by less than samples beside the time prove: then one small change has gone
 * unnoticed, perhaps, and only those before the time or those behind it are believed.
 */
static double uncertainty_of(const struct clock_fit *fit, const struct piece *piece, double time)
{
	size_t at = sample_after(fit, time), after = within(piece, at);
	size_t before = within(piece, at && fit->bounds[at].t0 > time ? at - 1 : at);
	double low_ns, high_ns, offset_ns = line_at(&piece->line, time);

	line_set_range(&piece->set, time, &low_ns, &high_ns);
	return fmax(fmax(high_ns - offset_ns, offset_ns - low_ns),
		    fmax(reach_ns(fit, &piece->line, piece->first, before, time),
			 reach_ns(fit, &piece->line, piece->last, after, time)));
}

/* Where either of two pieces may hold, the other one is not excluded. */
static double uncertainty_at(const struct clock_fit *fit, const struct piece *piece, double time)
{
	double uncertainty_ns = uncertainty_of(fit, piece, time), offset_ns = line_at(&piece->line, time);
	const struct piece *other = NULL;

	if (time >= piece->doubtful_from)
		other = piece + 1;
	else if (piece != fit->pieces && time <= piece[-1].doubtful_until)
		other = piece - 1;
	if (other)
		uncertainty_ns = fmax(uncertainty_ns,
				      uncertainty_of(fit, other, time) + fabs(line_at(&other->line, time) - offset_ns));
	return uncertainty_ns;
}

int64_t clock_fit_offset_ns(const struct clock_fit *fit, uint64_t time_ns, uint64_t *uncertainty_ns)
{
	double time = (int64_t)(time_ns - fit->origin_ns) / seconds;
	const struct piece *piece = piece_at(fit, time);

	if (uncertainty_ns)
		*uncertainty_ns = ceil(uncertainty_at(fit, piece, time) + 1);
	return fit->origin_offset_ns + llround(line_at(&piece->line, time));
}

bool clock_fit_require(struct clock_fit *fit, uint64_t time_ns, int64_t offset_ns, bool is_upper)
{
	double time = (int64_t)(time_ns - fit->origin_ns) / seconds;
	struct piece *piece = piece_at(fit, time);
	struct line_set smaller = piece->set;

	if (time >= piece->doubtful_from || (piece != fit->pieces && time <= piece[-1].doubtful_until) ||
	    !line_set_cut(&smaller, time, offset_ns - fit->origin_offset_ns + (is_upper ? slack_ns : -slack_ns),
			  is_upper))
		return false;
	piece->set = smaller;
	piece->line = line_set_middle(&smaller);
	return true;
}

uint64_t clock_fit_time_ns(const struct clock_fit *fit, uint64_t peer_ns, uint64_t *uncertainty_ns)
{
	uint64_t time_ns = peer_ns - fit->origin_offset_ns;

	/* An offset changes by a thousandth of the time at most, so each round leaves a thousandth of the error. */
	for (int i = 0; i < 6; i++)
		time_ns = peer_ns - clock_fit_offset_ns(fit, time_ns, uncertainty_ns);
	return time_ns;
}

size_t clock_fit_piece_count(const struct clock_fit *fit)
{
	return fit->piece_count;
}

struct clock_piece clock_fit_piece(const struct clock_fit *fit, size_t number)
{
	const struct piece *piece = &fit->pieces[number];
	double low = piece->line.slope, high = low;

	for (size_t i = 0; i < piece->set.count; i++) {
		low = fmin(low, piece->set.corners[i].slope);
		high = fmax(high, piece->set.corners[i].slope);
	}
	return (struct clock_piece){
		.begin_ns = fit->origin_ns + (uint64_t)(fit->bounds[piece->first].t0 * seconds),
		.end_ns = fit->origin_ns + (uint64_t)(fit->bounds[piece->last].t3 * seconds),
		.drift_ppm = piece->line.slope / 1e3,
		.drift_ppm_uncertainty = fmax(high - piece->line.slope, piece->line.slope - low) / 1e3,
		.sample_count = piece->last - piece->first + 1,
	};
}

size_t clock_fit_sample_count(const struct clock_fit *fit)
{
	return fit->count;
}

uint64_t clock_fit_round_trip_ns(const struct clock_fit *fit)
{
	return fit->round_trip_ns;
}
