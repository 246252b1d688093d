/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/findings_waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "analysis/files.h"

static const char *family_name(uint16_t family)
{
	switch (family) {
	case AF_INET:
		return "ipv4";
	case AF_INET6:
		return "ipv6";
	case AF_UNIX:
		return "unix";
	}
	return "other";
}

static struct report_file as_report_file(const struct wait_file *file, const struct file_info *info)
{
	return (struct report_file){
		.path = info->path,
		.inode = info->inode,
		.major = info->major,
		.minor = info->minor,
		.is_deleted = info->is_deleted,
		.cause = wait_cause_name(file->cause),
		.wait_ns = file->sum.wait_ns,
		.idle_ns = findings_idle_ns(file->cause, file->sum.idle_ns),
		.count = file->sum.count,
		.max_ns = file->sum.max_ns,
		.cmetric_ns = file->cmetric_ns,
		.key = file->file,
	};
}

static struct report_socket as_report_socket(const struct wait_file *file,
					     const struct file_info *info)
{
	return (struct report_socket){
		.family = family_name(info->family),
		.local = info->local,
		.peer = info->peer,
		.wait_ns = file->sum.wait_ns,
		.idle_ns = findings_idle_ns(file->cause, file->sum.idle_ns),
		.count = file->sum.count,
		.max_ns = file->sum.max_ns,
		.cmetric_ns = file->cmetric_ns,
		.key = file->file,
	};
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

void findings_add_files(struct findings *findings)
{
	const struct findings_input *input = &findings->input;
	size_t cursor = 0, count = 0, file_count = 0, socket_count = 0;
	const struct wait_file *file;
	struct report_socket *sockets;
	struct report_file *files;

	while (waits_next_file(input->waits, &cursor))
		count++;
	files = arena_alloc(findings->arena, count * sizeof(*files));
	sockets = arena_alloc(findings->arena, count * sizeof(*sockets));
	for (cursor = 0; (file = waits_next_file(input->waits, &cursor));) {
		const struct file_info *info = files_find(input->files, file->file);

		if (info && info->kind == FILE_SOCKET)
			sockets[socket_count++] = as_report_socket(file, info);
		else if (info && file->cause != CAUSE_POLL)	/* its descriptor leads to others only */
			files[file_count++] = as_report_file(file, info);
	}
	qsort(files, file_count, sizeof(*files), files_by_loss);
	qsort(sockets, socket_count, sizeof(*sockets), sockets_by_loss);
	findings->report.files = files;
	findings->report.file_count = file_count;
	findings->report.sockets = sockets;
	findings->report.socket_count = socket_count;
}
