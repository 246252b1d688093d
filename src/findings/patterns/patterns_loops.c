/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event loops that serve nobody while one of their functions runs for long. */
#include "findings/patterns/draft.h"

#include <string.h>

#include "base/whole.h"
#include "findings/code/code_function.h"
#include "findings/parts/code_path_key.h"
#include "stacks/fold.h"

enum { LONG_MIN = 3, SAMPLES_MIN = 20, SHORT_SAMPLES_MIN = 8, LONE_SAMPLES_MIN = 50, TURN_SAMPLES_MIN = 8 };

/*
 * running_min: so much of long iterations has to run, of what they do not wait for a CPU, or else they are waits, and
 * cpu_min of all of it; code_min: so much of that in one function.
 * contrast_min: so many times as much of it as in the other iterations; short_max: of the samples while polls were watched, so
 * many may have met short turns; polls_max: so much of it may be polls, which end iterations; idle_min: so much of the time the loop
 * polls that has time for all; asked_min: so many of them begin with a request, or so many requests come while one of them lasts.
 */
static const double running_min = 0.5, cpu_min = 0.1, code_min = 0.5, contrast_min = 2, short_max = 0.5,
		    polls_max = 0.05, idle_min = 0.5, asked_min = 0.5, arrivals_min = 1;

static uint64_t key_of(const struct findings *findings, const struct report_blocked_code *code)
{
	size_t own;

	return findings_code_path_key(findings, code->frames, code->frame_count, &own);
}

/* What of the running time is that call path's, or in that function: see main_code(). */
static double share_of(const struct findings *findings, const struct report_blocked_on *work,
		       const struct report_blocked_code *code, bool is_path)
{
	uint64_t key = key_of(findings, code);
	double ns = 0;

	if (!is_path)
		return draft_share(code_function_ns(work->code, work->code_count, code->frames), work->running_ns);
	for (size_t i = 0; i < work->code_count; i++)
		if (key_of(findings, &work->code[i]) == key)
			ns += work->code[i].ns;
	return draft_share(ns, work->running_ns);
}

static double life_ns(const struct report_event_loop *loop)
{
	return (double)loop->polled_ns + loop->work->ns;
}

/*
 * Whether a long iteration is one turn of the loop, rather than many with polls between them that found something ready at
 * once. Samples say so that met it while polls were watched. Where there are few, many turns are known by samples in polls, which
 * are rare if turns are not very short; and one turn by code that short iterations do not run.
 */
static bool are_single(const struct findings *findings, const struct report_event_loop *loop,
		       const struct report_blocked_code *code)
{
	const struct report_blocked_on *work = loop->long_work, *others = loop->short_work;
	bool is_path = code == work->code, are_seen = loop->long_turn_samples >= TURN_SAMPLES_MIN;

	if (loop->short_turn_samples > short_max * loop->turn_samples)
		return false;
	if (!are_seen && loop->long_poll_samples > polls_max * work->samples)
		return false;
	if (others && others->samples >= SHORT_SAMPLES_MIN)
		return share_of(findings, work, code, is_path) >=
		       contrast_min * share_of(findings, others, code, is_path);
	return are_seen || (!loop->long_poll_samples &&
			    (work->samples >= LONE_SAMPLES_MIN || loop->polled_ns >= idle_min * life_ns(loop)));
}

/* Whether somebody waits meanwhile: who asked for it, or who comes while it lasts. */
static bool are_awaited(const struct report_event_loop *loop)
{
	double long_ns = draft_share(loop->long_work->ns, loop->long_iterations);

	return loop->long_asked_iterations >= asked_min * loop->long_iterations ||
	       loop->asked_iterations * draft_share(long_ns, life_ns(loop)) >= arrivals_min;
}

/* Whether a loop polls in that function, or in what it calls: then it is the loop's own, and says nothing of what is done. */
static bool polls_below(const struct findings *findings, const struct report_frame *function)
{
	uint64_t key = findings_code_key(function);

	for (size_t i = 0; i < findings->report.wait_count; i++) {
		const struct report_wait *wait = &findings->report.waits[i];

		for (size_t k = 0; wait->cause == CAUSE_POLL && k < wait->frame_count; k++)
			if (findings_code_key(&wait->frames[k]) == key)
				return true;
	}
	return false;
}

/* The call path that long iterations run most, or the function that most of their code is in; NULL: none stands out. */
static const struct report_blocked_code *main_code(struct findings *findings, const struct report_blocked_on *work)
{
	double min_ns = code_min * work->running_ns;

	if (!work->code_count || !work->code->frame_count)
		return NULL;
	return work->code->ns >= min_ns ? work->code
					: code_function_of(findings, work->code, work->code_count, min_ns, polls_below);
}

/* The code that long iterations run; NULL: they are few, or wait, or no code stands out. */
static const struct report_blocked_code *holding_code(struct findings *findings, const struct report_event_loop *loop)
{
	const struct report_blocked_on *work = loop->long_work;
	const struct report_blocked_code *code;

	if (!work || loop->long_iterations < LONG_MIN || work->samples < SAMPLES_MIN ||
	    work->running_ns < running_min * (work->ns - work->cpu_wait_ns) || work->running_ns < cpu_min * work->ns)
		return NULL;
	code = main_code(findings, work);
	return code && are_single(findings, loop, code) && are_awaited(loop) ? code : NULL;
}

/* Loops that one function holds up. */
struct held {
	const struct report_event_loop *loop; /* the one that it holds up for longest, in all, */
	const struct report_blocked_code *code;
	uint64_t key;
	double ns; /* in all loops */
	size_t count;
};

/* Returns how many there are. */
static size_t collect(struct findings *findings, struct held *held)
{
	const struct report *report = &findings->report;
	size_t count = 0, i;

	for (size_t k = 0; k < report->event_loop_count; k++) {
		const struct report_event_loop *loop = &report->event_loops[k];
		const struct report_blocked_code *code = holding_code(findings, loop);
		uint64_t key = code ? key_of(findings, code) : 0;

		if (!code)
			continue;
		for (i = 0; i < count && held[i].key != key; i++)
			;
		if (i == count)
			held[count++] = (struct held){ .key = key };
		if (!held[i].code || code->ns > held[i].code->ns) {
			held[i].loop = loop;
			held[i].code = code;
		}
		held[i].ns += code->ns;
		held[i].count++;
	}
	return count;
}

static const char *loop_words(struct findings *findings, const struct held *held)
{
	const char *name = arena_printf(findings->arena, "%s (%u)", held->loop->name, held->loop->tid);

	if (held->count == 1)
		return arena_printf(findings->arena, "the event loop of thread %s is", name);
	return arena_printf(findings->arena, "the event loops of %zu threads, such as %s, are", held->count, name);
}

static double mean_ns(const struct report_event_loop *loop)
{
	return draft_share(loop->long_work->ns, loop->long_iterations);
}

/* For how long; of the longest one only if it is of that function. */
static const char *length_words(struct findings *findings, const struct held *held)
{
	const struct report_event_loop *loop = held->loop;
	const struct report_blocked_on *longest = loop->longest;

	if (longest->code_count && code_function_is_in(&longest->code[0], held->code->frames))
		return arena_printf(findings->arena, "up to %s", words_duration(findings, loop->max_ns));
	return arena_printf(findings->arena, "%s on average", words_duration(findings, whole(mean_ns(loop))));
}

static void say_lengths(struct findings *findings, struct report_finding *row, const struct report_event_loop *loop)
{
	draft_say(findings, row,
		  "%llu of %s between polls took %s or more, %s on average; half of all take %s at most, 99 %% %s",
		  (unsigned long long)loop->long_iterations, words_counted(findings, loop->iterations, "iteration"),
		  words_duration(findings, loop->long_min_ns), words_duration(findings, whole(mean_ns(loop))),
		  words_duration(findings, loop->p50_ns), words_duration(findings, loop->p99_ns));
}

static void say_turns(struct findings *findings, struct report_finding *row, const struct report_event_loop *loop)
{
	if (loop->long_turn_samples >= TURN_SAMPLES_MIN)
		draft_say(findings, row,
			  "at %llu of %s of these, while its polls were watched, it had not polled for %s or more",
			  (unsigned long long)loop->long_turn_samples,
			  words_counted(findings, loop->turn_samples, "sample"),
			  words_duration(findings, loop->turn_min_ns));
}

static void say_unread(struct findings *findings, struct report_finding *row, const struct report_event_loop *loop)
{
	if (loop->unread_looks)
		draft_say(
			findings, row,
			"input lay unread in its sockets and pipes meanwhile, some for more than %s: at %llu of %s, in %.1f of "
			"them on average",
			words_duration(findings, loop->unread_ns), (unsigned long long)loop->unread_looks,
			words_counted(findings, loop->looks, "look"), loop->unread);
	if (loop->long_work->text)
		draft_say(findings, row, "of the long ones, %s", loop->long_work->text);
}

static bool is_itself(const struct report_path *path, const struct report_frame *code)
{
	return path->function_count && path->functions[0].name && code->function &&
	       !strcmp(path->functions[0].name, code->function);
}

/* In what it is most, where that has no frame of its own: an engine runs parts of a script without one. */
static const char *samples_words(struct findings *findings, const struct report_frame *code)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < findings_paths_read(report); i++) {
		const struct report_path *path = &report->paths[i];
		const struct report_frame *frame =
			fold_find_headline(findings->input.fold, path->frames, path->frame_count);

		if (!frame || findings_code_key(frame) != findings_code_key(code))
			continue;
		return is_itself(path, code) ? NULL : words_samples(findings, path);
	}
	return NULL;
}

static void add_held(struct findings *findings, struct draft *draft, const struct held *held)
{
	const struct report_frame *frames = held->code->frames;
	const char *where = words_frame(findings, frames);
	const char *caller = words_caller(findings, frames, held->code->frame_count, frames);
	double lost = draft_lost(findings, held->ns);
	struct report_finding *row;
	const char *samples;

	if (lost < finding_share_min)
		return;
	row = draft_add(findings, draft, PATTERN_EVENT_LOOP, CAUSE_ON_CPU, lost, "%s held up for %s by %s%s%s",
			loop_words(findings, held), length_words(findings, held), where, caller ? ", called by " : "",
			caller ? caller : "");
	if (!row)
		return;
	row->code = held->code;
	if (held->count == 1)
		row->blocker = held->loop->name;
	say_lengths(findings, row, held->loop);
	samples = samples_words(findings, frames);
	if (samples)
		draft_say(findings, row, "%s", samples);
	say_turns(findings, row, held->loop);
	say_unread(findings, row, held->loop);
}

void patterns_add_loops(struct findings *findings, struct draft *draft)
{
	struct held *held = arena_alloc(findings->arena, (findings->report.event_loop_count + 1) * sizeof(*held));
	size_t count = collect(findings, held);

	for (size_t i = 0; i < count; i++)
		add_held(findings, draft, &held[i]);
}
