/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_files.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/close_file.h"
#include "helper/confine.h"
#include "helper/given.h"
#include "symbol/elf/build_id.h"
#include "symbol/object/file_source.h"
#include "symbol/object/object.h"
#include "symbol/worker/servers.h"
#include "symbol/worker/worker_confine.h"
#include "symbol/worker/worker_message.h"

enum { OPENED_MAX = 4 }; /* times a file is opened before it may stay */

/* What the worker holds beyond what it began with: of its own, and of files' pages. */
static const size_t own_bytes_max = 16 << 20, own_bytes_last = 512 << 20;
static const size_t mapped_bytes_max = 12 << 20;
/* A file may be as large as what is left then. */
static const size_t address_bytes_max = (size_t)WORKER_ADDRESS_GB_MAX << 29;

struct worker_file {
	const struct worker_files *files;
	struct file_source source; /* data: this */
	struct object *object;     /* NULL: closed to save memory */
	uint32_t number;
	uint64_t used;     /* the question that last used it */
	size_t kept_bytes; /* stays as long as it is open */
	unsigned int opened_count;
	bool is_vdso;
	struct build_id build_id; /* that it must have; of no bytes: any */
	char *path;
};

/* Resident memory. */
struct memory {
	size_t own_bytes, mapped_bytes;
	/* Whether resident or not: what RLIMIT_DATA and RLIMIT_AS are about. */
	size_t data_bytes, address_bytes;
};

struct worker_files {
	struct helper_sockets sockets;
	struct table *by_number; /* plus 1 */
	int statm_fd;
	struct memory first;
	size_t own_bytes_max;
	uint64_t question_count;
	uint32_t memory_mb_max; /* as the last question had it */
};

static int open_debug(void *data, const char *path, bool is_ours, char *real_path, size_t capacity_bytes)
{
	const struct worker_file *file = data;

	return given_debug_file(file->files->sockets.other, file->number, path, is_ours, real_path, capacity_bytes);
}

static int fetch_debug(void *data, const uint8_t *build_id, size_t size_bytes)
{
	const struct worker_file *file = data;

	return servers_ask(file->files->sockets.debuginfod, build_id, size_bytes);
}

static struct worker_file *file_add(struct worker_files *files, const struct question *question)
{
	struct worker_file *file = xcalloc(1, sizeof(*file));

	file->files = files;
	file->source = (struct file_source){ open_debug, fetch_debug, file };
	file->number = question->module;
	file->is_vdso = question->is_vdso;
	file->build_id.size_bytes = question->build_id_bytes;
	memcpy(file->build_id.bytes, question->build_id, sizeof(file->build_id.bytes));
	file->path = xstrdup((const char *)(question + 1));
	table_put(files->by_number, (uint64_t)question->module + 1, file);
	return file;
}

struct worker_file *worker_files_get(struct worker_files *files, const struct question *question)
{
	return question->has_path ? file_add(files, question)
				  : table_find(files->by_number, (uint64_t)question->module + 1);
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* What there is more than at first. The kernel's count takes far less time than malloc's. */
static struct memory memory_used(const struct worker_files *files)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), all, resident, shared, data;
	struct memory memory = { 0 };
	char text[128];
	ssize_t n = pread(files->statm_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%zu %zu %zu %*u %*u %zu", &all, &resident, &shared, &data) != 4 || shared > resident)
		return memory;
	memory.address_bytes = all * page_bytes;
	memory.data_bytes = data * page_bytes;
	memory.own_bytes = (resident - shared) * page_bytes;
	memory.mapped_bytes = shared * page_bytes;
	memory.own_bytes -= memory.own_bytes < files->first.own_bytes ? memory.own_bytes : files->first.own_bytes;
	memory.mapped_bytes -=
		memory.mapped_bytes < files->first.mapped_bytes ? memory.mapped_bytes : files->first.mapped_bytes;
	return memory;
}

struct worker_files *worker_files_new(const struct helper_sockets *sockets)
{
	struct worker_files *files = xcalloc(1, sizeof(*files));

	files->sockets = *sockets;
	files->by_number = table_new();
	files->own_bytes_max = own_bytes_max;
	files->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	return files;
}

void worker_files_begin(struct worker_files *files)
{
	files->first = memory_used(files);
}

static struct worker_file *find_oldest(const struct worker_files *files, const struct worker_file *current)
{
	struct worker_file *file, *oldest = NULL;
	size_t cursor = 0;

	while ((file = table_next(files->by_number, &cursor)))
		if (file->object && file != current && (!oldest || file->used < oldest->used))
			oldest = file;
	return oldest;
}

static void object_close(struct worker_file *file)
{
	object_free(file->object);
	file->object = NULL;
	file->kept_bytes = 0;
}

/* Files may be as large as nothing is that anybody needs: they must leave space for others. */
static void close_objects(const struct worker_files *files)
{
	struct worker_file *file;
	size_t cursor = 0;

	while ((file = table_next(files->by_number, &cursor)))
		if (file->object)
			object_close(file);
}

/*
 * Closes the files that were used least recently, then shrinks the current one, until memory is
 * within its bound. What even that leaves, such as unpacked sections, is the file's to keep.
 */
static void save_own_memory(struct worker_files *files, struct worker_file *current)
{
	size_t max = files->own_bytes_max + current->kept_bytes;
	struct worker_file *oldest;

	do {
		if (memory_used(files).own_bytes <= max)
			return;
		oldest = find_oldest(files, current);
		if (oldest) {
			object_close(oldest);
			malloc_trim(0);
		}
	} while (oldest);
	if (current->object)
		object_shrink(current->object);
	malloc_trim(0);
	current->kept_bytes = memory_used(files).own_bytes;
}

void worker_files_save_memory(struct worker_files *files, struct worker_file *current)
{
	struct memory used = memory_used(files);
	struct worker_file *file;
	size_t cursor = 0;

	if (used.address_bytes > address_bytes_max && !IS_SANITIZED)
		close_objects(files);
	if (used.own_bytes > files->own_bytes_max)
		save_own_memory(files, current);
	if (used.mapped_bytes <= mapped_bytes_max)
		return;
	while ((file = table_next(files->by_number, &cursor)))
		if (file->object)
			object_release(file->object);
}

void worker_files_limit_memory(struct worker_files *files, uint32_t memory_mb_max)
{
	struct rlimit data = { .rlim_max = (rlim_t)WORKER_MEMORY_MB_MAX << 20 };

	if (memory_mb_max == files->memory_mb_max || IS_SANITIZED)
		return;
	files->memory_mb_max = memory_mb_max;
	data.rlim_cur = memory_used(files).data_bytes + ((rlim_t)memory_mb_max << 20);
	if (!memory_mb_max || data.rlim_cur > data.rlim_max)
		data.rlim_cur = data.rlim_max;
	setrlimit(RLIMIT_DATA, &data);
}

/* --- Opening --------------------------------------------------------------------------------- */

/* 0, or why the file cannot be opened. */
static int open_object(struct worker_files *files, struct worker_file *file)
{
	struct build_id build_id;
	int fd = -1;

	file->used = ++files->question_count;
	if (file->object)
		return 0;
	/* What keeps coming back is worth its memory: opening it each time takes far longer. Not that of anybody. */
	if (++file->opened_count >= OPENED_MAX && files->own_bytes_max < own_bytes_last &&
	    files->memory_mb_max >= WORKER_MEMORY_MB_MAX)
		files->own_bytes_max *= 2;
	if (!file->is_vdso)
		fd = given_file(files->sockets.other, file->number);
	if (!file->is_vdso && fd < 0)
		return fd;
	build_id_read(fd, &build_id);
	if (file->build_id.size_bytes && !build_id_is_same(&build_id, &file->build_id)) {
		file_close(fd);
		return -ESTALE;
	}
	file->object = file->is_vdso ? object_new_vdso() : object_new(fd, &file->source, file->path);
	return 0;
}

int worker_files_open(struct worker_files *files, struct worker_file *file, struct object **object)
{
	int err = open_object(files, file);

	if (!err)
		*object = file->object;
	return err;
}
