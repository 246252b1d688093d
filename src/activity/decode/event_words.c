/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/decode/event_words.h"

#include <stdio.h>
#include <string.h>

/* Each word, and the family that it belongs to. */
static const struct {
	const char *word;
	enum event_part part;
	size_t family;
} known[] = {
	{ "BEGIN", PART_BEGIN, 0 },     { "END", PART_END, 0 },     { "LOCK", PART_BEGIN, 1 },
	{ "UNLOCK", PART_END, 1 },      { "START", PART_BEGIN, 2 }, { "STOP", PART_END, 2 },
	{ "ENTER", PART_BEGIN, 3 },     { "EXIT", PART_END, 3 },    { "SEND", PART_SEND, 4 },
	{ "RECEIVE", PART_RECEIVE, 4 },
};

/* What a family leaves in the name of its activities. */
static const char *const kept[] = { "", "LOCK", "", "", "" };

struct event_words event_words_of(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t word_length = strlen(known[i].word);
		size_t before = length < word_length ? 0 : length - word_length;

		if (length < word_length || strcmp(name + before, known[i].word) || (before && name[before - 1] != '_'))
			continue;
		return (struct event_words){ known[i].part, known[i].family, before ? before - 1 : 0 };
	}
	return (struct event_words){ 0 };
}

size_t event_words_name(const struct event_words *words, const char *stem, char *name, size_t name_bytes)
{
	const char *word = kept[words->family];
	const char *separator = words->stem_length && *word ? "_" : "";
	int length = snprintf(name, name_bytes, "%.*s%s%s", (int)words->stem_length, stem, separator, word);

	return (size_t)length < name_bytes ? (size_t)length : name_bytes - 1;
}
