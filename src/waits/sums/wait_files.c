/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/wait_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/journal.h"
#include "waits/sums/wait_wakers.h"

enum { FILES_MAX = 65536, PEERS_MAX = 4 };

struct wait_files {
	struct arena *arena;
	struct table *by_file;
	struct wait_file **files;
	size_t count, capacity;
	struct wait_file *others; /* one of files; NULL until it is needed */
};

struct wait_files *wait_files_new(void)
{
	struct wait_files *files = xcalloc(1, sizeof(*files));

	files->arena = arena_new();
	files->by_file = table_new();
	return files;
}

void wait_files_free(struct wait_files *files)
{
	if (!files)
		return;
	free(files->files);
	table_free(files->by_file);
	arena_free(files->arena);
	free(files);
}

static struct wait_file *add(struct wait_files *files, uint64_t name)
{
	struct wait_file *file = arena_alloc(files->arena, sizeof(*file));

	ARRAY_GROW(files->files, files->count, files->capacity, 64);
	file->file = name;
	files->files[files->count++] = file;
	return file;
}

static struct wait_file *get(struct wait_files *files, uint64_t name)
{
	struct wait_file *file = table_find(files->by_file, name);

	if (file)
		return file;
	if (table_count(files->by_file) >= FILES_MAX) {
		if (!files->others)
			files->others = add(files, 0);
		return files->others;
	}
	file = add(files, name);
	table_put(files->by_file, name, file);
	return file;
}

/*
 * The user that waits longest is one of those kept: who is not gets the place of the one that waited
 * least, and its time, so that nobody is counted too low.
 */
static void add_user(struct wait_file *file, const struct thread *thread, uint64_t wait_ns)
{
	struct wait_user *least = &file->users[0];

	for (size_t i = 0; i < WAIT_USERS; i++) {
		struct wait_user *user = &file->users[i];

		if (user->thread == thread->number) {
			user->wait_ns += wait_ns;
			return;
		}
		if (user->wait_ns < least->wait_ns)
			least = user;
	}
	least->thread = thread->number;
	least->wait_ns += wait_ns;
}

/* The cause of more than half of the time, if there is one, is what remains (Boyer and Moore). */
static void vote_cause(struct wait_file *file, enum wait_cause cause, uint64_t wait_ns)
{
	if (cause == file->cause) {
		file->cause_lead_ns += wait_ns;
	} else if (file->cause_lead_ns >= wait_ns && file->sum.count) {
		file->cause_lead_ns -= wait_ns;
	} else {
		file->cause_lead_ns = wait_ns - file->cause_lead_ns;
		file->cause = cause;
	}
}

static void count(struct wait_file *file, const struct thread *thread, const struct open_wait *wait, uint64_t wait_ns,
		  uint64_t idle_ns)
{
	uint64_t bytes;

	vote_cause(file, wait->cause, wait_ns);
	wait_sum_add(&file->sum, wait_ns, idle_ns);
	file->cmetric_ns += wait->slice_cmetric_ns;
	file->direction_ns[file_waited_direction(&wait->facts)] += wait_ns;
	if (file_asked_bytes(&wait->facts, &bytes)) {
		file->asked_bytes += bytes;
		file->asked_count++;
	}
	add_user(file, thread, wait_ns);
}

static bool is_same(const struct wait_peer *peer, const struct wait_end *end)
{
	if (end->waker)
		return peer->thread == end->waker->thread ||
		       (peer->thread && peer->pid == end->waker->thread->pid &&
			peer->name_group == wait_name_group(end->waker->thread->name));
	return !peer->thread && peer->pid == end->other->pid && peer->name_group == wait_name_group(end->other->name);
}

static void fill_peer(struct wait_peer *peer, const struct wait_end *end)
{
	peer->thread = NULL;
	if (end->waker) {
		end->waker->thread->is_kept = true;
		peer->thread = end->waker->thread;
		peer->pid = peer->thread->pid;
		peer->name_group = wait_name_group(peer->thread->name);
		return;
	}
	peer->pid = end->other->pid;
	memcpy(peer->name, end->other->name, sizeof(peer->name));
	memcpy(peer->process, end->other->process, sizeof(peer->process));
	peer->name_group = wait_name_group(peer->name);
}

/* Of more than there is space for, as of the users above, those that end most are kept. */
static void add_peer(struct wait_files *files, struct wait_file *file, const struct wait_end *end, uint64_t wait_ns)
{
	struct wait_peer *peer, *least = file->peers;
	size_t peers = 0;

	for (peer = file->peers; peer && !is_same(peer, end); peer = peer->next) {
		if (peer->wait_ns < least->wait_ns)
			least = peer;
		peers++;
	}
	if (!peer && peers < PEERS_MAX) {
		peer = arena_alloc(files->arena, sizeof(*peer));
		peer->next = file->peers;
		file->peers = peer;
		fill_peer(peer, end);
	} else if (!peer) {
		peer = least;
		fill_peer(peer, end);
	}
	peer->wait_ns += wait_ns;
}

/* Whether who ends a wait for such a thing does so from its other end. */
static bool is_peer(enum file_kind kind, const struct wait_end *end)
{
	if (kind != FILE_PIPE && kind != FILE_SOCKET && kind != FILE_EVENT)
		return false;
	if (end->waker)
		return end->kind == WAKER_THREAD || end->kind == WAKER_EXIT;
	return end->kind == WAKER_PROCESS && end->other;
}

/* What the wait is for. */
static struct wait_file *file_of(struct wait_files *files, struct open_wait *wait)
{
	struct wait_file *known = wait->known.file_row;

	if (!known || known->file != wait->facts.object)
		wait->known.file_row = known = get(files, wait->facts.object);
	return known;
}

struct wait_file *wait_files_end(struct wait_files *files, const struct thread *thread, struct open_wait *wait,
				 enum file_kind kind, uint64_t wait_ns, uint64_t idle_ns, const struct wait_end *end)
{
	struct wait_file *file = file_of(files, wait);

	count(file, thread, wait, wait_ns, idle_ns);
	if (file != files->others && is_peer(kind, end))
		add_peer(files, file, end, wait_ns);
	return file;
}

void wait_files_count_open(struct wait_files *files, const struct thread *thread, struct open_wait *wait,
			   uint64_t wait_ns, uint64_t idle_ns, struct journal *journal)
{
	struct wait_file *file = file_of(files, wait);

	journal_save(journal, file, sizeof(*file));
	count(file, thread, wait, wait_ns, idle_ns);
}

uint64_t wait_files_answered(struct wait_files *files, uint64_t name, uint64_t now_ns)
{
	struct wait_file *file = get(files, name);
	uint64_t last_ns = file->answered_ns;

	if (file == files->others)
		return 0;
	file->answered_ns = now_ns;
	return last_ns;
}

/* A wait that was counted while it lasted leaves its file behind. */
const struct wait_file *wait_files_next(const struct wait_files *files, size_t *cursor)
{
	while (*cursor < files->count) {
		const struct wait_file *file = files->files[(*cursor)++];

		if (file->sum.count)
			return file;
	}
	return NULL;
}
