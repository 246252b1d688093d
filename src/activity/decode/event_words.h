/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the names of a program's events say of activities: "REQUEST_BEGIN" begins one, "REQUEST_END" ends it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum event_part { PART_NONE, PART_BEGIN, PART_END, PART_SEND, PART_RECEIVE };

struct event_words {
	enum event_part part;
	size_t family;      /* of the words: BEGIN and END are one, LOCK and UNLOCK another one */
	size_t stem_length; /* of the name, before the word and the underscore in front of it */
};

/* Of the name of an event, without its subsystem. */
struct event_words event_words_of(const char *name);

/* The same at the activity's end as at its beginning: "REQUEST", and "CACHE_LOCK" of a lock. */
size_t event_words_name(const struct event_words *words, const char *stem, char *name, size_t name_bytes);
