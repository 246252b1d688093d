/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/wait_names.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "stacks/fold.h"
#include "report/report_frame.h"

static const char builtin_rules[] =
#include "wait_rules.inc"
	;

enum { FRAMES_LOOKED_AT = 24 }; /* of the innermost ones: beyond, somebody waits on their behalf */

struct wait_names {
	struct fold_rules *rules;
};

struct wait_names *wait_names_new(void)
{
	struct wait_names *names = xcalloc(1, sizeof(*names));

	names->rules = fold_rules_of(builtin_rules);
	return names;
}

void wait_names_free(struct wait_names *names)
{
	if (!names)
		return;
	fold_rules_free(names->rules);
	free(names);
}

static const char *default_lock_kind(const struct wait_facts *facts, enum wait_cause cause)
{
	if (facts->syscall == SYS_semop || facts->syscall == SYS_semtimedop)
		return "sysv-semaphore";
	if (facts->syscall == SYS_flock)
		return "flock";
	if (facts->syscall == SYS_fcntl)
		return cause == CAUSE_LOCK ? "file-lock" : NULL;
	if (!wait_has_futex(facts))
		return NULL;
	if (wait_futex_command(facts) == FUTEX_LOCK_PI || wait_futex_command(facts) == FUTEX_LOCK_PI2)
		return "pi-mutex";
	return cause == CAUSE_JOIN ? "join" : "futex";
}

/* "lock:rwlock". False, and nothing changes, when there is no such cause. */
static bool parse_label(const char *label, struct wait_meaning *meaning)
{
	size_t length = strcspn(label, ":");

	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		const char *name = wait_cause_name(cause);

		if (strlen(name) == length && !strncmp(name, label, length)) {
			meaning->cause = cause;
			if (label[length])
				meaning->lock_kind = label + length + 1;
			return true;
		}
	}
	return false;
}

/* A plain wait below pthread_cond_wait() is for the mutex that it takes again. */
static bool is_mutex_of_condition(const struct wait_facts *facts, const struct report_frame *frame)
{
	return wait_futex_command(facts) == FUTEX_WAIT && frame->function && strstr(frame->function, "pthread_cond_");
}

/* Waits that a lock of a library or a server can be made of. */
static bool can_be_made_into_lock(const struct wait_facts *facts, enum wait_cause cause)
{
	return wait_has_futex(facts) || cause == CAUSE_SEMAPHORE || cause == CAUSE_POLL || cause == CAUSE_SLEEP ||
	       cause == CAUSE_SOCKET;
}

/* Whether a rule has said so. */
static bool is_kind(const struct wait_meaning *meaning, const char *kind)
{
	return meaning->is_named && meaning->lock_kind && !strcmp(meaning->lock_kind, kind);
}

/*
 * Whether an outer function's rule may replace what was found further in: who waits for a mutex while
 * he takes a larger lock waits for that mutex, and who is idle waits for nothing else. Who got an answer from a server
 * waited for that, wherever it waited.
 */
static bool may_replace(const struct wait_meaning *outer, const struct wait_meaning *inner)
{
	if ((inner->is_named && inner->cause == CAUSE_LOCK) || (inner->cause == CAUSE_SOCKET && is_kind(outer, "idle")))
		return false;
	return outer->cause == CAUSE_LOCK || !inner->is_named || outer->cause == inner->cause;
}

static bool says_no_cause(const char *label)
{
	return !strcmp(label, "callback") || !strcmp(label, "callback:poll") || !strcmp(label, "result");
}

/* What a frame adds to what those further in said. Returns whether frames further out may add to it. */
static bool take_frame(const struct wait_names *names, const struct wait_facts *facts, const struct report_frame *frame,
		       bool is_futex, bool *has_begun, struct wait_meaning *meaning)
{
	const char *label = fold_find_label(names->rules, frame);
	struct wait_meaning outer = *meaning;

	if (!label || says_no_cause(label))
		return !*has_begun;
	if (!strcmp(label, "."))
		return *has_begun = true;
	if (*label == '^') {
		outer.is_named = parse_label(label + 1, &outer);
		outer.is_made = outer.cause == CAUSE_LOCK;
		if (may_replace(&outer, meaning))
			*meaning = outer;
		return false;
	}
	if (!meaning->is_named && (is_futex || frame->is_kernel)) {
		if (is_mutex_of_condition(facts, frame))
			label = "lock:mutex";
		meaning->is_named = parse_label(label, meaning);
	}
	return *has_begun = true;
}

/* Whether it waits in a function with that label, or below one. */
static bool is_below(const struct wait_names *names, const struct report_frame *frames, size_t count,
		     const char *wanted)
{
	for (size_t i = 0; i < count; i++) {
		const char *label = frames[i].is_kernel ? NULL : fold_find_label(names->rules, &frames[i]);

		if (label && !strcmp(label, wanted))
			return true;
	}
	return false;
}

/* All others that want something of an event loop wait for what it has called. */
static bool is_in_callback(const struct wait_names *names, enum wait_cause cause, bool is_futex,
			   const struct report_frame *frames, size_t count)
{
	if (cause != CAUSE_SLEEP && cause != CAUSE_CHILD && cause != CAUSE_POLL && !is_futex)
		return false;
	return is_below(names, frames, count, "callback:poll") ||
	       (cause != CAUSE_POLL && is_below(names, frames, count, "callback"));
}

struct wait_meaning wait_meaning_of(const struct wait_names *names, const struct wait_facts *facts,
				    enum wait_cause cause, const struct report_frame *frames, size_t count)
{
	struct wait_meaning meaning = {
		.cause = cause,
		.lock_kind = default_lock_kind(facts, cause),
	};
	bool is_pi = wait_has_futex(facts) && meaning.lock_kind && !strcmp(meaning.lock_kind, "pi-mutex");
	bool is_futex = wait_has_futex(facts), has_begun = false;
	bool can_be_lock = can_be_made_into_lock(facts, cause);

	for (size_t i = 0; !is_pi && i < count && i < FRAMES_LOOKED_AT; i++) {
		if (!frames[i].is_kernel && !can_be_lock)
			continue;
		if (!take_frame(names, facts, &frames[i], is_futex, &has_begun, &meaning))
			break;
	}
	meaning.is_in_callback = is_in_callback(names, cause, is_futex, frames, count);
	meaning.is_for_result = is_futex && (is_kind(&meaning, "future") || is_below(names, frames, count, "result"));
	meaning.is_idle = is_kind(&meaning, "idle");
	return meaning;
}
