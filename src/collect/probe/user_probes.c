/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/user_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/probe/span_calls.h"
#include "collect/probe/usdt_programs.h"
#include "helper/file_stamp.h"
#include "shared.h"
#include "pinch.skel.h"

enum {
	FILES_MAX = 1024,            /* each is held open */
	RESOLVERS_MAX = 256,         /* C libraries of containers */
	FUNCTION_PLACES_MAX = 16384, /* of spans, in all files */
	CHECKED_AT_ONCE = 8,
};

struct probed_file {
	struct user_probes *probes;
	int fd; /* -1: detached */
	struct file_stamp stamp;
	uint64_t *changed_count;
	struct bpf_link **links;
	size_t link_count, link_capacity;
};

struct user_probes {
	struct pinch_bpf *bpf;
	struct probed_file **files;
	size_t file_count;
	size_t next_checked;
	size_t resolver_count, function_count;
};

struct user_probes *user_probes_new(struct pinch_bpf *bpf)
{
	struct user_probes *probes = xcalloc(1, sizeof(*probes));

	probes->bpf = bpf;
	probes->files = xcalloc(FILES_MAX, sizeof(*probes->files));
	return probes;
}

static void file_detach(struct probed_file *file)
{
	while (file->link_count)
		bpf_link__destroy(file->links[--file->link_count]);
	free(file->links);
	file->links = NULL;
	file->link_capacity = 0;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void user_probes_detach(struct user_probes *probes)
{
	for (size_t i = 0; probes && i < probes->file_count; i++)
		file_detach(probes->files[i]);
}

void user_probes_free(struct user_probes *probes)
{
	if (!probes)
		return;
	user_probes_detach(probes);
	for (size_t i = 0; i < probes->file_count; i++)
		free(probes->files[i]);
	free(probes->files);
	free(probes);
}

static void file_add_link(struct probed_file *file, struct bpf_link *link)
{
	if (file->link_count == file->link_capacity) {
		file->link_capacity = 2 * file->link_capacity + 16;
		file->links = xrealloc(file->links, file->link_capacity, sizeof(*file->links));
	}
	file->links[file->link_count++] = link;
}

static int leave_alone(struct probed_file *file)
{
	file_detach(file);
	++*file->changed_count;
	return -ESTALE;
}

int user_probes_open(struct user_probes *probes, int fd, const struct file_stamp *stamp, uint64_t *changed_count,
		     struct probed_file **out)
{
	struct probed_file *file;
	int own_fd, err;

	if (probes->file_count == FILES_MAX)
		return -E2BIG;
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own_fd < 0)
		return -errno;
	file = xcalloc(1, sizeof(*file));
	*file = (struct probed_file){
		.probes = probes,
		.fd = own_fd,
		.stamp = *stamp,
		.changed_count = changed_count,
	};
	probes->files[probes->file_count++] = file;
	err = user_probes_confirm(file);
	if (!err)
		*out = file;
	return err;
}

/* Of its very descriptor, whatever its path leads to by now, or in other file trees. */
static const char *own_path(const struct probed_file *file, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", file->fd);
	return path;
}

int user_probes_add_resolver(struct probed_file *file, uint64_t file_offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, at_return, .retprobe = true);
	struct user_probes *probes = file->probes;
	struct bpf_link *begin, *end;
	char path[32];
	int err;

	if (probes->resolver_count == RESOLVERS_MAX)
		return -E2BIG;
	own_path(file, path);
	begin = bpf_program__attach_uprobe_opts(probes->bpf->progs.resolve_begin, -1, path, file_offset, NULL);
	if (!begin)
		return -errno;
	end = bpf_program__attach_uprobe_opts(probes->bpf->progs.resolve_end, -1, path, file_offset, &at_return);
	if (!end) {
		err = -errno;
		bpf_link__destroy(begin);
		return err;
	}
	file_add_link(file, begin);
	file_add_link(file, end);
	probes->resolver_count++;
	return 0;
}

int user_probes_add_function(struct probed_file *file, const struct function_place *place, uint32_t span)
{
	struct user_probes *probes = file->probes;
	struct bpf_link *link;
	char path[32];

	if (probes->function_count == FUNCTION_PLACES_MAX)
		return -E2BIG;
	link = spans_attach_function(probes->bpf, own_path(file, path), place, span);
	if (!link)
		return -errno;
	file_add_link(file, link);
	probes->function_count++;
	return 0;
}

int user_probes_add_usdt(struct probed_file *file, const struct usdt_place *place, uint64_t schema, uint32_t number)
{
	struct bpf_link *link;
	char path[32];

	link = usdt_attach(file->probes->bpf, own_path(file, path), place, schema, number);
	if (!link)
		return -errno;
	file_add_link(file, link);
	return 0;
}

int user_probes_confirm(struct probed_file *file)
{
	struct file_stamp now;

	if (!file_stamp_read(file->fd, &now) && file_stamp_is_same(&now, &file->stamp))
		return 0;
	return leave_alone(file);
}

/*
 * A program that runs cannot be written to, but a library can. Its code is not the same any more then,
 * and the next process that maps it would have the breakpoints where no instruction begins.
 */
void user_probes_check(struct user_probes *probes)
{
	size_t count = probes->file_count < CHECKED_AT_ONCE ? probes->file_count : CHECKED_AT_ONCE;
	struct file_stamp now;

	while (count--) {
		struct probed_file *file = probes->files[probes->next_checked++ % probes->file_count];

		if (file->fd >= 0 &&
		    (file_stamp_read(file->fd, &now) || !file_stamp_has_same_contents(&now, &file->stamp)))
			leave_alone(file);
	}
}
