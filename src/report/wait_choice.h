/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which waits a report, a graph or an export is of: those for some causes, and those for objects with some names. Words of one kind are
 * alternatives; a wait has to be of both kinds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

enum { WAIT_CHOICE_OBJECTS_MAX = 16 };

struct wait_choice {
	uint32_t causes;                              /* a bit for each enum wait_cause; 0: all */
	const char *objects[WAIT_CHOICE_OBJECTS_MAX]; /* parts of names, borrowed; upper and lower case are the same */
	size_t object_count;                          /* 0: all */
};

/* A cause by its name in reports, such as page-fault. 0, or -EINVAL: there is none. */
int wait_choice_add_cause(struct wait_choice *choice, const char *name);

/* 0; -E2BIG: there are WAIT_CHOICE_OBJECTS_MAX; -EINVAL: it is empty. */
int wait_choice_add_object(struct wait_choice *choice, const char *name);

/* Whether some waits are left out; choice may be NULL. */
bool wait_choice_is_set(const struct wait_choice *choice);

/* These three take a choice that is not set, or NULL, for one of all waits. */
bool wait_choice_has_cause(const struct wait_choice *choice, enum wait_cause cause);

/* name: of what is waited for; NULL: it is not known, and not chosen if any object is asked for. */
bool wait_choice_has_object(const struct wait_choice *choice, const char *name);
bool wait_choice_has(const struct wait_choice *choice, enum wait_cause cause, const char *object);

/* The choice in words, "cause lock, file; object cache.mutex_". Owned by the caller; NULL: it is of all waits. */
char *wait_choice_words(const struct wait_choice *choice);
