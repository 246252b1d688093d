/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/chosen_threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "options/settings.h"
#include "query/thread_words.h"
#include "query/trace_states.h"
#include "session/external_threads.h"
#include "session/threads.h"
#include "states/states.h"

struct choice {
	struct threads *all;
	const struct thread_words *words, *processes;
	const struct table *wanted;      /* threads that words name */
	struct table *leaders;           /* the first thread of a process, by its id */
	bool is_named[THREAD_WORDS_MAX]; /* processes that there are */
	struct chosen_threads *chosen;
};

static void note_leader(void *data, uint32_t number)
{
	struct choice *choice = data;
	struct thread *thread = threads_get(choice->all, number);

	if (thread->tid == thread->pid && !table_find(choice->leaders, thread->pid))
		table_put(choice->leaders, thread->pid, thread);
}

static bool is_in_process(struct choice *choice, const struct thread *thread)
{
	const struct thread *leader = table_find(choice->leaders, thread->pid);
	bool is_in = false;
	char id[16];

	snprintf(id, sizeof(id), "%u", thread->pid);
	for (size_t i = 0; i < choice->processes->count; i++) {
		const char *word = choice->processes->words[i];

		if (strcmp(word, id) && (!leader || strcmp(word, leader->name)))
			continue;
		choice->is_named[i] = is_in = true;
	}
	return is_in;
}

/* Without a word, all that were traced. */
static bool is_wanted(struct choice *choice, uint32_t number)
{
	bool is_named = choice->words->count && table_find(choice->wanted, number);

	if (!choice->words->count && !choice->processes->count)
		return !thread_is_external(number);
	if (choice->processes->count && is_in_process(choice, threads_get(choice->all, number)))
		is_named = true;
	return is_named;
}

static void choose(void *data, uint32_t number)
{
	struct choice *choice = data;
	struct chosen_threads *chosen = choice->chosen;

	if (!is_wanted(choice, number))
		return;
	ARRAY_GROW(chosen->numbers, chosen->count, chosen->capacity, 64);
	chosen->numbers[chosen->count++] = number;
}

static int check_processes(const struct choice *choice, const char *path)
{
	for (size_t i = 0; i < choice->processes->count; i++)
		if (!choice->is_named[i])
			return fail_plain(-ENOENT, "%s has no process %s", path, choice->processes->words[i]);
	return 0;
}

int chosen_threads_find(const struct settings *settings, const char *path, const struct trace_states *all,
			struct chosen_threads *chosen)
{
	struct table *wanted = table_new(), *pids = table_new();
	struct choice choice = {
		.all = all->threads,
		.words = &settings->threads,
		.processes = &settings->processes,
		.wanted = wanted,
		.leaders = table_new(),
		.chosen = chosen,
	};
	int err = 0;

	if (choice.words->count)
		err = thread_words_find(states_file(all->states), path, choice.words->words, choice.words->count,
					wanted, pids);
	if (!err) {
		states_each_thread(all->states, note_leader, &choice);
		states_each_thread(all->states, choose, &choice);
		err = check_processes(&choice, path);
	}
	if (!err && !chosen->count)
		err = fail_plain(-ENOENT, "%s has no thread", path);
	table_free(choice.leaders);
	table_free(wanted);
	table_free(pids);
	return err;
}

void chosen_threads_fini(struct chosen_threads *chosen)
{
	free(chosen->numbers);
	*chosen = (struct chosen_threads){ 0 };
}
