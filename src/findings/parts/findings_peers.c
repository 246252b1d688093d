/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end of a pipe or a connection: who ended the waits for it; else who waited at the
 * other end; else the process that a Unix socket was connected to.
 */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/table.h"
#include "findings/names/thread_index.h"
#include "waits/files.h"

struct peer_index {
	struct thread_index threads;
	struct table *by_end; /* struct wait_file of sockets */
};

/* Of a socket on this end; the other end's is the same with both ends exchanged. */
static uint64_t end_key(const char *local, const char *peer)
{
	return hash_string(hash_string(1, local) + 1, peer);
}

static uint64_t inode_key(uint64_t inode)
{
	return hash_u64(inode);
}

static void index_sockets(struct findings *findings, struct peer_index *index)
{
	const struct wait_file *file;
	size_t cursor = 0;

	while ((file = waits_next_file(findings->input.waits, &cursor))) {
		const struct file_info *info = files_find(findings->input.files, file->file);

		if (!info || info->kind != FILE_SOCKET)
			continue;
		if (info->family == AF_UNIX)
			table_put(index->by_end, inode_key(info->inode), (void *)file);
		else if (*info->local && *info->peer)
			table_put(index->by_end, end_key(info->local, info->peer), (void *)file);
	}
}

struct peer_index *findings_index_peers(struct findings *findings)
{
	struct peer_index *index = xcalloc(1, sizeof(*index));

	index->threads = thread_index_new(findings->input.criticality);
	index->by_end = table_new();
	index_sockets(findings, index);
	return index;
}

void findings_free_peers(struct peer_index *index)
{
	thread_index_free(&index->threads);
	table_free(index->by_end);
	free(index);
}

static const char *copy(struct findings *findings, const char *name)
{
	return *name ? arena_strdup(findings->arena, name) : NULL;
}

/* A process is called as its first thread, as far as that is known. */
static struct report_peer peer_of_thread(struct findings *findings, const struct peer_index *index,
					 const struct thread *thread)
{
	const struct thread *first = table_find(index->threads.by_pid, thread->pid);

	return (struct report_peer){
		.peer_name = copy(findings, first ? first->name : thread->name),
		.peer_thread = copy(findings, thread->name),
		.peer_pid = thread->pid,
	};
}

static struct report_peer peer_that_ends(struct findings *findings, const struct peer_index *index,
					 const struct wait_file *file)
{
	const struct wait_peer *most = file->peers;
	struct report_peer out;

	for (const struct wait_peer *peer = most; peer; peer = peer->next)
		if (peer->wait_ns > most->wait_ns)
			most = peer;
	if (most->thread)
		out = peer_of_thread(findings, index, most->thread);
	else
		out = (struct report_peer){
			.peer_name = copy(findings, most->process),
			.peer_thread = copy(findings, most->name),
			.peer_pid = most->pid,
		};
	if (file->sum.wait_ns)
		out.peer_share = (double)most->wait_ns / file->sum.wait_ns;
	if (out.peer_share > 1)
		out.peer_share = 1;
	return out;
}

/* The thread that waited longest at the other end; NULL: nobody did. */
static const struct thread *user_of_other_end(const struct peer_index *index, const struct file_info *info)
{
	uint64_t key = info->family == AF_UNIX ? inode_key(info->peer_inode) : end_key(info->peer, info->local);
	const struct wait_file *file = table_find(index->by_end, key);
	const struct wait_user *most;

	if (!file || (info->family == AF_UNIX && !info->peer_inode))
		return NULL;
	most = &file->users[0];
	for (size_t i = 1; i < WAIT_USERS; i++)
		if (file->users[i].wait_ns > most->wait_ns)
			most = &file->users[i];
	return table_find(index->threads.by_number, most->thread);
}

/* Of a pair of sockets, it is the process that made them, which may have passed on both. */
static bool has_connected_process(const struct file_info *info)
{
	return info->peer_pid && (*info->local || *info->peer);
}

struct report_peer findings_peer(struct findings *findings, const struct peer_index *index,
				 const struct wait_file *file, const struct file_info *info)
{
	const struct thread *thread;

	if (file->peers)
		return peer_that_ends(findings, index, file);
	if (info->kind != FILE_SOCKET)
		return (struct report_peer){ 0 };
	thread = user_of_other_end(index, info);
	if (thread)
		return peer_of_thread(findings, index, thread);
	if (!has_connected_process(info))
		return (struct report_peer){ 0 };
	thread = table_find(index->threads.by_pid, info->peer_pid);
	return (struct report_peer){
		.peer_name = copy(findings, thread ? thread->name : info->peer_process),
		.peer_pid = info->peer_pid,
	};
}
