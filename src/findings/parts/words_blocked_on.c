/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads were blocked on, as one sentence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/parts/findings_waits.h"
#include "findings/parts/words.h"
#include "report/report_cause.h"
#include "stacks/fold.h"

enum { ITEMS = 3, ROWS = 8 };

/* Smaller shares are left out; and errors, in parts of 1, that change nothing. */
static const double share_min = 0.03, error_min = 0.015;

struct item {
	double share, error;
	const char *what;
};

/* "f (a.c:3), called by g" */
static const char *code_words(struct findings *findings, const struct report_blocked_code *code)
{
	const struct report_frame *frames = code->frames;
	const char *where = words_frame(findings, &frames[0]);
	const char *caller = words_caller(findings, frames, code->frame_count, frames);

	return caller ? arena_printf(findings->arena, "%s, called by %s", where, caller) : where;
}

/* "slept", "waited for a file", "waited for file /a/b"; object: NULL: it is not known. */
static const char *verb_words(struct findings *findings, const struct report_blocked_wait *wait, const char *object)
{
	char buffer[REPORT_CAUSE_BYTES];
	const char *cause = report_cause_text(buffer, wait->cause, wait->syscall);

	switch (wait->cause) {
	case CAUSE_SLEEP:
		return "slept";
	case CAUSE_POLL:
		return object ? arena_printf(findings->arena, "polled %s", object) : "polled";
	case CAUSE_FILE:
	case CAUSE_SOCKET:
	case CAUSE_LOCK:
	case CAUSE_CONDITION:
		return object ? arena_printf(findings->arena, "waited for %s %s", cause, object)
			      : arena_printf(findings->arena, "waited for a %s", cause);
	default:
		return arena_printf(findings->arena, "waited: %s%s%s", cause, object ? " " : "", object ? object : "");
	}
}

static const char *wait_words(struct findings *findings, const struct report_blocked_wait *wait)
{
	const char *where = words_place(findings, wait->frames, wait->frame_count);
	const char *object = wait->object ? words_object(findings, wait->object) : NULL;
	const char *verb = verb_words(findings, wait, object);

	return where ? arena_printf(findings->arena, "%s in %s", verb, where) : verb;
}

static int by_share(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->what, y->what);
}

/* Only what its error lets be seen. */
static size_t collect_code(struct findings *findings, const struct report_blocked_code *code, size_t count,
			   double all_ns, const char *verb, struct item *items)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (code[i].ns >= share_min * all_ns && 2 * code[i].error_ns < code[i].ns)
			items[used++] = (struct item){ code[i].ns / all_ns, code[i].error_ns / all_ns,
						       arena_printf(findings->arena, "%s%s", verb,
								    code_words(findings, &code[i])) };
	return used;
}

static size_t collect(struct findings *findings, const struct report_blocked_on *on, struct item *items)
{
	double all_ns = on->ns;
	size_t count = collect_code(findings, on->code, on->code_count, all_ns, "ran ", items);

	if (on->running_ns >= share_min * all_ns && !count)
		items[count++] = (struct item){ on->running_ns / all_ns, 0, "ran, with too few samples to say where" };
	for (size_t i = 0; i < on->wait_count; i++)
		if (on->waits[i].ns >= share_min * all_ns)
			items[count++] =
				(struct item){ on->waits[i].ns / all_ns, 0, wait_words(findings, &on->waits[i]) };
	if (on->cpu_wait_ns >= share_min * all_ns)
		items[count++] = (struct item){ on->cpu_wait_ns / all_ns, 0, "waited for a CPU" };
	return count;
}

/* What reads the same is one: code without names. Returns how many are left. */
static size_t join_alike(struct item *items, size_t count)
{
	size_t used = 0, k;

	for (size_t i = 0; i < count; i++) {
		for (k = 0; k < used && strcmp(items[k].what, items[i].what) != 0; k++)
			;
		if (k == used) {
			items[used++] = items[i];
			continue;
		}
		items[k].share += items[i].share;
		items[k].error = hypot(items[k].error, items[i].error);
	}
	return used;
}

static const char *sentence(struct findings *findings, struct item *items, size_t count)
{
	const char *out = NULL;

	count = join_alike(items, count);
	qsort(items, count, sizeof(*items), by_share);
	for (size_t i = 0; i < count && i < ITEMS; i++) {
		const char *error = items[i].error >= error_min
					    ? arena_printf(findings->arena, " (+-%.0f %%)", 100 * items[i].error)
					    : "";

		out = arena_printf(findings->arena, "%s%s%.0f %%%s %s", out ? out : "", out ? "; " : "",
				   100 * items[i].share, error, items[i].what);
	}
	return out;
}

const char *words_blocked_on(struct findings *findings, const struct report_blocked_on *on)
{
	struct item items[2 * ROWS + 2];

	return sentence(findings, items, on->ns ? collect(findings, on, items) : 0);
}

const char *words_code(struct findings *findings, const struct report_blocked_code *code, size_t count, uint64_t all_ns)
{
	struct item items[ROWS];

	return sentence(findings, items, collect_code(findings, code, count, all_ns, "", items));
}
