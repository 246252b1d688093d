/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/table.h"
#include "base/whole.h"
#include "report/wait_choice.h"
#include "waits/files.h"

static enum socket_family family_of(uint16_t family)
{
	switch (family) {
	case AF_INET:
		return FAMILY_IPV4;
	case AF_INET6:
		return FAMILY_IPV6;
	case AF_UNIX:
		return FAMILY_UNIX;
	}
	return FAMILY_OTHER;
}

static struct report_transfer as_report_transfer(const struct wait_file *file)
{
	return (struct report_transfer){
		.read_ns = file->direction_ns[FILE_READING],
		.write_ns = file->direction_ns[FILE_WRITING],
		.asked_bytes = file->asked_bytes,
		.asked_waits = file->asked_count,
	};
}

static struct report_file as_report_file(const struct wait_file *file, const struct file_info *info)
{
	return (struct report_file){
		.path = info->path,
		.inode = info->inode,
		.device = { info->major, info->minor },
		.is_deleted = info->is_deleted,
		.cause = file->cause,
		.wait_ns = file->sum.wait_ns,
		.idle_ns = whole(findings_idle_ns(file->cause, file->sum.idle_ns)),
		.waits = file->sum.count,
		.max_ns = file->sum.max_ns,
		.cmetric_ns = file->cmetric_ns,
		.key = file->file,
		.transfer = as_report_transfer(file),
	};
}

static struct report_socket as_report_socket(const struct wait_file *file, const struct file_info *info)
{
	return (struct report_socket){
		.family = family_of(info->family),
		.local = info->local,
		.peer = info->peer,
		.wait_ns = file->sum.wait_ns,
		.idle_ns = whole(findings_idle_ns(file->cause, file->sum.idle_ns)),
		.waits = file->sum.count,
		.max_ns = file->sum.max_ns,
		.connections = 1,
		.cmetric_ns = file->cmetric_ns,
		.key = file->file,
		.transfer = as_report_transfer(file),
	};
}

/*
 * What a connection has in common with others: the end that stays the same from one to the next, a server's own, and a
 * client's peer. Others are one alone.
 */
static uint64_t end_key(const struct file_info *info)
{
	const char *end = info->is_server ? info->local : info->peer;

	if (!*end)
		return hash_u64(info->file);
	return hash_string(hash_u64((uint64_t)info->family << 1 | info->is_server), end);
}

static size_t host_length(const char *end)
{
	const char *port = strrchr(end, ':');

	return port ? (size_t)(port - end) : strlen(end);
}

/* "127.0.0.1:*" of ends of one host; "*" of others. */
static const char *common_end(struct findings *findings, const char *x, const char *y)
{
	size_t length = host_length(x);

	if (!strcmp(x, y))
		return x;
	if (!length || length != host_length(y) || memcmp(x, y, length) != 0)
		return "*";
	return arena_printf(findings->arena, "%.*s:*", (int)length, x);
}

/* The one at the other ends that ended most of the waiting. */
static struct report_peer merge_peers(const struct report_socket *x, const struct report_socket *y)
{
	const struct report_peer *of_x = &x->other_end, *of_y = &y->other_end;
	double x_ns = of_x->peer_share * x->wait_ns, y_ns = of_y->peer_share * y->wait_ns;
	double all_ns = (double)x->wait_ns + y->wait_ns;
	bool is_one = of_x->peer_pid == of_y->peer_pid;
	struct report_peer out = y_ns > x_ns ? *of_y : *of_x;

	out.peer_share = all_ns > 0 ? (is_one ? x_ns + y_ns : y_ns > x_ns ? y_ns : x_ns) / all_ns : 0;
	if (out.peer_share > 1)
		out.peer_share = 1;
	return out;
}

static void merge_socket(struct findings *findings, struct report_socket *row, const struct report_socket *socket)
{
	row->other_end = merge_peers(row, socket);
	row->local = common_end(findings, row->local, socket->local);
	row->peer = common_end(findings, row->peer, socket->peer);
	if (!row->host)
		row->host = socket->host;
	if (!strcmp(row->peer, "*"))
		row->host = NULL;
	row->wait_ns += socket->wait_ns;
	row->idle_ns += socket->idle_ns;
	row->waits += socket->waits;
	row->connections++;
	row->cmetric_ns += socket->cmetric_ns;
	if (socket->max_ns > row->max_ns)
		row->max_ns = socket->max_ns;
	row->transfer.read_ns += socket->transfer.read_ns;
	row->transfer.write_ns += socket->transfer.write_ns;
	row->transfer.asked_bytes += socket->transfer.asked_bytes;
	row->transfer.asked_waits += socket->transfer.asked_waits;
}

/* A file that has no name for lack of room, to the row of all such files. */
static void add_other(struct report_file *others, const struct wait_file *file)
{
	others->path = "others";
	if (file->sum.max_ns >= others->max_ns)
		others->cause = file->cause;
	others->wait_ns += file->sum.wait_ns;
	others->idle_ns += whole(findings_idle_ns(file->cause, file->sum.idle_ns));
	others->waits += file->sum.count;
	others->cmetric_ns += file->cmetric_ns;
	if (file->sum.max_ns > others->max_ns)
		others->max_ns = file->sum.max_ns;
	others->transfer.read_ns += file->direction_ns[FILE_READING];
	others->transfer.write_ns += file->direction_ns[FILE_WRITING];
	others->transfer.asked_bytes += file->asked_bytes;
	others->transfer.asked_waits += file->asked_count;
}

static int compare(uint64_t x_ns, uint64_t y_ns)
{
	return x_ns < y_ns ? 1 : x_ns > y_ns ? -1 : 0;
}

static int files_by_loss(const void *a, const void *b)
{
	const struct report_file *x = a, *y = b;
	int order = compare(x->wait_ns - x->idle_ns, y->wait_ns - y->idle_ns);

	return order ? order : strcmp(x->path, y->path);
}

static int sockets_by_loss(const void *a, const void *b)
{
	const struct report_socket *x = a, *y = b;
	int order = compare(x->wait_ns - x->idle_ns, y->wait_ns - y->idle_ns);

	return order ? order : strcmp(x->peer, y->peer);
}

/* The rows as they are made. */
struct io_rows {
	struct report_file *files;
	struct report_socket *sockets;
	size_t file_count, socket_count;
	struct table *by_end; /* struct report_socket; see end_key() */
	struct report_file others;
};

static void add_socket(struct findings *findings, const struct peer_index *index, struct io_rows *rows,
		       const struct wait_file *file, const struct file_info *info)
{
	struct report_socket socket = as_report_socket(file, info), *row;
	uint64_t key = end_key(info);

	socket.host = files_host(findings->input.files, info);
	socket.other_end = findings_peer(findings, index, file, info);
	row = table_find(rows->by_end, key);
	if (row) {
		merge_socket(findings, row, &socket);
		return;
	}
	row = &rows->sockets[rows->socket_count++];
	*row = socket;
	table_put(rows->by_end, key, row);
}

static void merge_file(struct report_file *row, const struct report_file *file)
{
	if (file->max_ns > row->max_ns)
		row->max_ns = file->max_ns;
	row->wait_ns += file->wait_ns;
	row->idle_ns += file->idle_ns;
	row->waits += file->waits;
	row->cmetric_ns += file->cmetric_ns;
	row->transfer.read_ns += file->transfer.read_ns;
	row->transfer.write_ns += file->transfer.write_ns;
	row->transfer.asked_bytes += file->transfer.asked_bytes;
	row->transfer.asked_waits += file->transfer.asked_waits;
	if (row->wait_ns) /* who ended waits did so at a descriptor */
		row->other_end.peer_share *= (double)(row->wait_ns - file->wait_ns) / row->wait_ns;
}

/* What is known by its path alone, from a call that it was given to, is the file of that path, if there is one. */
static void merge_called_files(struct io_rows *rows)
{
	struct table *by_path = table_new();
	size_t count = 0;

	for (size_t i = 0; i < rows->file_count; i++)
		if (rows->files[i].inode)
			table_put(by_path, hash_string(1, rows->files[i].path), &rows->files[i]);
	for (size_t i = 0; i < rows->file_count; i++) {
		struct report_file *file = &rows->files[i], *row = NULL;

		if (!file->inode)
			row = table_find(by_path, hash_string(1, file->path));
		if (!row)
			continue;
		merge_file(row, file);
		file->key = 0; /* it is left out below */
	}
	for (size_t i = 0; i < rows->file_count; i++)
		if (rows->files[i].key)
			rows->files[count++] = rows->files[i];
	rows->file_count = count;
	table_free(by_path);
}

/* A socket is called by what stays the same from one connection to the next, a peer by its host, too. */
static bool is_chosen(const struct findings *findings, const struct wait_file *file, const struct file_info *info)
{
	const char *host = info ? files_host(findings->input.files, info) : NULL;

	return wait_choice_has(findings->choice, file->cause, object_name_of_file(info)) ||
	       (host && wait_choice_has(findings->choice, file->cause, host));
}

static void add_row(struct findings *findings, const struct peer_index *index, struct io_rows *rows,
		    const struct wait_file *file)
{
	const struct file_info *info = files_find(findings->input.files, file->file);

	if (info && info->kind == FILE_POLL && file->cause == CAUSE_POLL)
		return; /* it leads to others only */
	if (!is_chosen(findings, file, info))
		return;
	if (!info || !*info->path) {
		add_other(&rows->others, file);
	} else if (info->kind == FILE_SOCKET) {
		add_socket(findings, index, rows, file, info);
	} else {
		struct report_file *row = &rows->files[rows->file_count++];

		*row = as_report_file(file, info);
		row->other_end = findings_peer(findings, index, file, info);
	}
}

void findings_add_files(struct findings *findings)
{
	const struct findings_input *input = &findings->input;
	struct peer_index *index = findings_index_peers(findings);
	size_t cursor = 0, count = 1; /* for the others */
	const struct wait_file *file;
	struct io_rows rows = { .by_end = table_new() };

	while (waits_next_file(input->waits, &cursor))
		count++;
	rows.files = arena_alloc(findings->arena, count * sizeof(*rows.files));
	rows.sockets = arena_alloc(findings->arena, count * sizeof(*rows.sockets));
	for (cursor = 0; (file = waits_next_file(input->waits, &cursor));)
		add_row(findings, index, &rows, file);
	findings_free_peers(index);
	table_free(rows.by_end);
	merge_called_files(&rows);
	if (rows.others.path)
		rows.files[rows.file_count++] = rows.others;
	qsort(rows.files, rows.file_count, sizeof(*rows.files), files_by_loss);
	qsort(rows.sockets, rows.socket_count, sizeof(*rows.sockets), sockets_by_loss);
	findings->report.files = rows.files;
	findings->report.file_count = rows.file_count;
	findings->report.sockets = rows.sockets;
	findings->report.socket_count = rows.socket_count;
}
