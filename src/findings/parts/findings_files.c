/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/whole.h"
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
		.cmetric_ns = file->cmetric_ns,
		.key = file->file,
		.transfer = as_report_transfer(file),
	};
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
	struct report_file others;
};

static void add_row(struct findings *findings, const struct peer_index *index, struct io_rows *rows,
		    const struct wait_file *file)
{
	const struct file_info *info = files_find(findings->input.files, file->file);

	if (info && info->kind == FILE_POLL && file->cause == CAUSE_POLL)
		return; /* it leads to others only */
	if (!info || !*info->path) {
		add_other(&rows->others, file);
	} else if (info->kind == FILE_SOCKET) {
		struct report_socket *socket = &rows->sockets[rows->socket_count++];

		*socket = as_report_socket(file, info);
		socket->host = files_host(findings->input.files, info);
		socket->other_end = findings_peer(findings, index, file, info);
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
	struct io_rows rows = { 0 };

	while (waits_next_file(input->waits, &cursor))
		count++;
	rows.files = arena_alloc(findings->arena, count * sizeof(*rows.files));
	rows.sockets = arena_alloc(findings->arena, count * sizeof(*rows.sockets));
	for (cursor = 0; (file = waits_next_file(input->waits, &cursor));)
		add_row(findings, index, &rows, file);
	findings_free_peers(index);
	if (rows.others.path)
		rows.files[rows.file_count++] = rows.others;
	qsort(rows.files, rows.file_count, sizeof(*rows.files), files_by_loss);
	qsort(rows.sockets, rows.socket_count, sizeof(*rows.sockets), sockets_by_loss);
	findings->report.files = rows.files;
	findings->report.file_count = rows.file_count;
	findings->report.sockets = rows.sockets;
	findings->report.socket_count = rows.socket_count;
}
