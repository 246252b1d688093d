/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/held_files.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/close_file.h"
#include "helper/open_file.h"
#include "helper/opener_message.h"

enum {
	FILES_MAX = 65536,
	OPEN_MAX = 8192, /* descriptors held, if the system allows twice as many */
};

struct held {
	int fd; /* -1: none */
	bool was_open;
	struct file_stamp stamp; /* if it was open, from then */
	struct opener_request *request;
};

struct held_files {
	struct table *files; /* by number + 1 */
	size_t open_count, open_count_max;
};

struct held_files *held_files_new(void)
{
	struct held_files *files = xcalloc(1, sizeof(*files));
	struct rlimit limit;

	files->files = table_new();
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		files->open_count_max = limit.rlim_cur / 2 < OPEN_MAX ? limit.rlim_cur / 2 : OPEN_MAX;
	return files;
}

/* --- Opening --------------------------------------------------------------------------------- */

/* True when the descriptor leads to the file that was mapped, as far as the kernel reported which that is. */
static bool is_that_file(int fd, const struct opener_request *request)
{
	struct stat status;

	return !request->inode ||
	       (!fstat(fd, &status) && status.st_dev == request->device && status.st_ino == request->inode);
}

/* Overlay file systems and btrfs give other numbers than the mapping: the name has to do. */
static bool is_that_link(const char *link, const char *path)
{
	static const char deleted[] = " (deleted)";
	char target[OPENER_PATH_BYTES];
	ssize_t n = readlink(link, target, sizeof(target)), tail = sizeof(deleted) - 1;

	if (n < 0 || n == sizeof(target))
		return false;
	if (n > tail && !memcmp(target + n - tail, deleted, tail))
		n -= tail;
	target[n] = '\0';
	return !strcmp(target, path);
}

static int checked(int fd, bool is_that)
{
	if (fd < 0 || is_that)
		return fd;
	file_close(fd);
	return -ESTALE;
}

static int open_mapped(const struct opener_request *request)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", request->pid, (unsigned long long)request->start,
		 (unsigned long long)request->end);
	fd = file_open(link);
	return checked(fd, fd >= 0 && (is_that_file(fd, request) || is_that_link(link, request->path)));
}

static int open_path(uint32_t pid, const struct opener_request *request)
{
	int fd = file_open_in_root(pid, request->path, true);

	return checked(fd, fd >= 0 && is_that_file(fd, request));
}

static int open_request(const struct opener_request *request)
{
	int fd = request->end ? open_mapped(request) : -ENOENT;

	if (fd < 0 && !request->skips_tree)
		fd = open_path(request->pid, request);
	if (fd < 0 && request->pid)
		fd = open_path(0, request);
	return fd;
}

/* --- Holding --------------------------------------------------------------------------------- */

static struct opener_request *request_copy(const struct opener_request *request)
{
	size_t path_bytes = strlen(request->path) + 1;
	struct opener_request *copy = xcalloc(1, sizeof(*copy) + path_bytes);

	*copy = *request;
	memcpy(copy->path, request->path, path_bytes);
	return copy;
}

static struct held *held_get(struct held_files *files, uint32_t number)
{
	struct held *held = table_find(files->files, (uint64_t)number + 1);

	if (!held && table_count(files->files) < FILES_MAX) {
		held = xcalloc(1, sizeof(*held));
		held->fd = -1;
		table_put(files->files, (uint64_t)number + 1, held);
	}
	return held;
}

/* As it was when it was first opened, if it was. */
static int open_same(const struct held *held, struct file_stamp *stamp)
{
	int fd = open_request(held->request), err;

	if (fd < 0)
		return fd;
	err = file_stamp_read(fd, stamp);
	if (!err && held->was_open && !file_stamp_has_same_contents(stamp, &held->stamp))
		err = -ESTALE;
	if (!err)
		return fd;
	file_close(fd);
	return err;
}

int held_files_add(struct held_files *files, const struct opener_request *request, struct file_stamp *stamp)
{
	struct held *held = held_get(files, request->number);
	int fd;

	if (!held)
		return -ENOSPC;
	if (held->fd >= 0)
		return file_stamp_read(held->fd, stamp);
	free(held->request);
	held->request = request_copy(request);
	fd = open_same(held, stamp);
	if (fd < 0)
		return fd;
	held->was_open = true;
	held->stamp = *stamp;
	if (files->open_count >= files->open_count_max) {
		file_close(fd);
		return 0;
	}
	files->open_count++;
	held->fd = fd;
	return 0;
}

void held_files_drop(struct held_files *files, uint32_t number)
{
	struct held *held = table_take(files->files, (uint64_t)number + 1);

	if (!held)
		return;
	if (held->fd >= 0) {
		file_close(held->fd);
		files->open_count--;
	}
	free(held->request);
	free(held);
}

int held_files_stamp(const struct held_files *files, uint32_t number, struct file_stamp *stamp)
{
	const struct held *held = table_find(files->files, (uint64_t)number + 1);

	return held && held->fd >= 0 ? file_stamp_read(held->fd, stamp) : -ENOENT;
}

int held_files_open(struct held_files *files, uint32_t number, bool *is_own)
{
	struct held *held = table_find(files->files, (uint64_t)number + 1);
	struct file_stamp stamp;

	if (!held || !held->request)
		return -ENOENT;
	*is_own = held->fd < 0;
	return held->fd < 0 ? open_same(held, &stamp) : held->fd;
}

/* A process in a namespace of users of its own can have mounted what it likes. */
static bool has_our_users(uint32_t pid)
{
	struct stat its, ours;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return !stat(path, &its) && !stat("/proc/self/ns/user", &ours) && its.st_ino == ours.st_ino;
}

/* The mount by which a file was opened; -1: unknown. */
static long mount_of(int fd)
{
	char path[64], line[256];
	long mount = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && mount < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "mnt_id: %ld", &mount) != 1)
			mount = -1;
	if (file)
		fclose(file);
	return mount;
}

/* Whether a process has this mount; 0: we. */
static bool has_mount(uint32_t pid, long mount)
{
	char path[64], *line = NULL;
	bool has = false;
	size_t capacity = 0;
	FILE *file;

	snprintf(path, sizeof(path), pid ? "/proc/%u/mountinfo" : "/proc/self/mountinfo", pid);
	file = fopen(path, "re");
	while (file && !has && getline(&line, &capacity, file) > 0)
		has = strtol(line, NULL, 10) == mount;
	if (file)
		fclose(file);
	free(line);
	return has;
}

/*
 * Whether reading it takes no process of somebody else. An overlay reads the file systems that it lies on: whose users
 * are not ours can have laid one on what they like, and have handed the file to this process.
 */
static bool is_local(int fd, uint32_t pid)
{
	static const unsigned long kinds[] = {
		EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC,
		BTRFS_SUPER_MAGIC,    TMPFS_MAGIC,
		RAMFS_MAGIC,          SQUASHFS_MAGIC,
		F2FS_SUPER_MAGIC,     EROFS_SUPER_MAGIC_V1,
		0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */,
	};
	struct statfs status;

	if (fstatfs(fd, &status))
		return false;
	if (status.f_type == OVERLAYFS_SUPER_MAGIC)
		return has_mount(pid, mount_of(fd));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((unsigned long)status.f_type == kinds[i])
			return true;
	return false;
}

bool held_file_is_local(int fd, uint32_t pid)
{
	struct statfs status;

	/* In memory, whoever mounted it. */
	if (!fstatfs(fd, &status) && status.f_type == TMPFS_MAGIC)
		return true;
	return (!pid || has_our_users(pid)) && is_local(fd, pid);
}

int held_files_open_local(struct held_files *files, uint32_t number, uint32_t pid, bool *is_own)
{
	int fd = held_files_open(files, number, is_own);

	if (fd < 0 || held_file_is_local(fd, pid))
		return fd;
	if (*is_own)
		file_close(fd);
	return -EXDEV;
}

int held_files_known(const struct held_files *files, uint32_t number, struct file_stamp *stamp, uint32_t *pid,
		     bool *skips_tree)
{
	const struct held *held = table_find(files->files, (uint64_t)number + 1);

	if (!held || !held->was_open)
		return -ENOENT;
	*stamp = held->stamp;
	*pid = held->request->pid;
	*skips_tree = held->request->skips_tree;
	return 0;
}
