/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait_choice.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* What threads wait for: not of slices or findings alone. */
static bool is_of_waits(enum wait_cause cause)
{
	return cause < CAUSES || cause == CAUSE_PREEMPTED;
}

int wait_choice_add_cause(struct wait_choice *choice, const char *name)
{
	for (enum wait_cause cause = 0; cause < SLICE_CAUSES; cause++) {
		if (!is_of_waits(cause) || strcmp(wait_cause_name(cause), name) != 0)
			continue;
		choice->causes |= 1u << cause;
		return 0;
	}
	return -EINVAL;
}

int wait_choice_add_object(struct wait_choice *choice, const char *name)
{
	if (!*name)
		return -EINVAL;
	if (choice->object_count == WAIT_CHOICE_OBJECTS_MAX)
		return -E2BIG;
	choice->objects[choice->object_count++] = name;
	return 0;
}

bool wait_choice_is_set(const struct wait_choice *choice)
{
	return choice && (choice->causes || choice->object_count);
}

bool wait_choice_has_cause(const struct wait_choice *choice, enum wait_cause cause)
{
	return !choice || !choice->causes || (choice->causes >> cause & 1);
}

bool wait_choice_has_object(const struct wait_choice *choice, const char *name)
{
	if (!choice || !choice->object_count)
		return true;
	for (size_t i = 0; name && i < choice->object_count; i++)
		if (strcasestr(name, choice->objects[i]))
			return true;
	return false;
}

bool wait_choice_has(const struct wait_choice *choice, enum wait_cause cause, const char *object)
{
	return wait_choice_has_cause(choice, cause) && wait_choice_has_object(choice, object);
}

char *wait_choice_words(const struct wait_choice *choice)
{
	struct text words = { 0 };
	const char *before = "cause ";
	char *out;

	if (!wait_choice_is_set(choice))
		return NULL;
	for (enum wait_cause cause = 0; cause < SLICE_CAUSES; cause++) {
		if (!(choice->causes >> cause & 1))
			continue;
		text_printf(&words, "%s%s", before, wait_cause_name(cause));
		before = ", ";
	}
	before = choice->causes ? "; object " : "object ";
	for (size_t i = 0; i < choice->object_count; i++) {
		text_printf(&words, "%s%s", before, choice->objects[i]);
		before = ", ";
	}
	out = xstrdup(words.bytes);
	text_fini(&words);
	return out;
}
