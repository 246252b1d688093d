/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/thread_words.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "trace/trace_reader.h"

enum { WORDS_MAX = 64, THREADS_MAX = 1 << 22 };

/* How a word may be meant; what comes first counts. */
enum meaning { BY_NUMBER, BY_TID, BY_NAME, MEANINGS };

struct word {
	const char *text;
	bool is_number;
	uint64_t number;
};

struct candidate {
	uint32_t number;
	uint32_t pid, exec_pid;   /* exec_pid: since it replaced its program */
	uint64_t words[MEANINGS]; /* a bit each that names it so */
};

struct search {
	struct word words[WORDS_MAX];
	size_t count;
	struct arena *arena;
	struct table *candidates; /* all threads, by number */
};

static struct candidate *get(struct search *search, uint32_t number)
{
	struct candidate *candidate = table_find(search->candidates, number);

	if (candidate || table_count(search->candidates) >= THREADS_MAX)
		return candidate;
	candidate = arena_alloc(search->arena, sizeof(*candidate));
	candidate->number = number;
	table_put(search->candidates, number, candidate);
	return candidate;
}

static void match(const struct search *search, struct candidate *candidate, const uint32_t *tid, const char name[16])
{
	char text[17] = "";

	memcpy(text, name, 16);
	for (size_t i = 0; i < search->count; i++) {
		const struct word *word = &search->words[i];
		bool is_number = word->is_number && word->number == candidate->number;
		bool is_tid = word->is_number && tid && word->number == *tid;

		candidate->words[BY_NUMBER] |= (uint64_t)is_number << i;
		candidate->words[BY_TID] |= (uint64_t)is_tid << i;
		candidate->words[BY_NAME] |= (uint64_t)!strcmp(word->text, text) << i;
	}
}

static void see(struct search *search, const struct ev_header *header)
{
	struct candidate *candidate = header->thread ? get(search, header->thread) : NULL;
	const struct ev_thread_found *found = (const void *)header;
	const struct ev_thread_born *born = (const void *)header;
	const struct ev_thread_exec *exec = (const void *)header;

	if (!candidate)
		return;
	switch (header->event) {
	case TRACE_EVENT_THREAD_BORN:
		match(search, candidate, &born->tid, born->name);
		candidate->pid = born->pid;
		break;
	case TRACE_EVENT_THREAD_FOUND:
		match(search, candidate, &found->tid, found->name);
		candidate->pid = found->pid;
		break;
	case TRACE_EVENT_THREAD_EXEC:
		match(search, candidate, &exec->tid, exec->name);
		candidate->exec_pid = exec->tid;
		break;
	case TRACE_EVENT_THREAD_NAME:
		match(search, candidate, NULL, ((const struct ev_thread_name *)header)->name);
		break;
	}
}

static void see_all(struct search *search, struct trace_reader *reader)
{
	const struct ev_header *header;
	int got;

	trace_reader_seek(reader, 0);
	while ((got = trace_reader_next(reader, &header)) == 1 || got == -EBADMSG)
		if (got == 1 && header->subsys == TRACE_SUBSYS_THREAD)
			see(search, header);
	trace_reader_seek(reader, 0);
}

static void choose(struct table *numbers, struct table *pids, const struct candidate *candidate)
{
	static char chosen;

	table_put(numbers, candidate->number, &chosen);
	table_put(pids, candidate->pid, &chosen);
	if (candidate->exec_pid)
		table_put(pids, candidate->exec_pid, &chosen);
}

/* Those that the word numbered i means in the first way in which it means any. */
static bool choose_word(const struct search *search, size_t i, struct table *numbers, struct table *pids)
{
	for (int meaning = 0; meaning < MEANINGS; meaning++) {
		const struct candidate *candidate;
		size_t cursor = 0;
		bool has_any = false;

		while ((candidate = table_next(search->candidates, &cursor)))
			if (candidate->words[meaning] >> i & 1) {
				choose(numbers, pids, candidate);
				has_any = true;
			}
		if (has_any)
			return true;
	}
	return false;
}

static void word_init(struct word *word, const char *text)
{
	char *end;

	errno = 0;
	word->text = text;
	word->number = strtoull(text, &end, 10);
	word->is_number = *text >= '0' && *text <= '9' && !*end && !errno;
}

int thread_words_find(struct trace_reader *reader, const char *path, const char *const *words, size_t count,
		      struct table *numbers, struct table *pids)
{
	struct search search = { .count = count, .arena = arena_new(), .candidates = table_new() };
	int err = 0;

	assert(count <= WORDS_MAX);
	for (size_t i = 0; i < count; i++)
		word_init(&search.words[i], words[i]);
	see_all(&search, reader);
	for (size_t i = 0; !err && i < count; i++)
		if (!choose_word(&search, i, numbers, pids))
			err = fail_plain(-ENOENT,
					 "no thread in %s has the number, TID or name '%s'; pinch report lists the "
					 "threads",
					 path, words[i]);
	table_free(search.candidates);
	arena_free(search.arena);
	return err;
}
