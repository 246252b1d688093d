/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/wait_names.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "analysis/fold.h"
#include "analysis/report.h"
#include "base/memory.h"

static const char builtin_rules[] =
#include "wait_rules.inc"
	;

enum { FRAMES_LOOKED_AT = 24 };	/* of the innermost ones: beyond, somebody waits on their behalf */

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
	if (wait_futex_command(facts) == FUTEX_LOCK_PI ||
	    wait_futex_command(facts) == FUTEX_LOCK_PI2)
		return "pi-mutex";
	return cause == CAUSE_JOIN ? "join" : "futex";
}

/* "lock:rwlock" */
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
	return wait_futex_command(facts) == FUTEX_WAIT && frame->function &&
	       strstr(frame->function, "pthread_cond_");
}

static bool can_mean(const struct wait_facts *facts, const struct report_frame *frame)
{
	return frame->is_kernel || wait_has_futex(facts);
}

struct wait_meaning wait_meaning_of(const struct wait_names *names, const struct wait_facts *facts,
				    enum wait_cause cause, const struct report_frame *frames,
				    size_t count)
{
	struct wait_meaning meaning = { cause, default_lock_kind(facts, cause), false };
	bool is_pi = wait_has_futex(facts) && meaning.lock_kind &&
		     !strcmp(meaning.lock_kind, "pi-mutex");

	for (size_t i = 0; !is_pi && i < count && i < FRAMES_LOOKED_AT; i++) {
		const char *label;

		if (!can_mean(facts, &frames[i]))
			continue;
		label = fold_find_label(names->rules, &frames[i]);
		if (!label)
			continue;
		if (is_mutex_of_condition(facts, &frames[i]))
			label = "lock:mutex";
		meaning.is_named = parse_label(label, &meaning);
		break;
	}
	return meaning;
}
