/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/out/out_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as the kernel has it */

bool is_trusted_owner(const struct stat *status)
{
	return status->st_uid == geteuid() || !status->st_uid;
}

/* Of a directory with an access control list, the group's bits say what the list allows at most. */
bool is_private_directory(const struct stat *status)
{
	return is_trusted_owner(status) && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* --- Links ---------------------------------------------------------------------------------- */

/* There the kernel makes all links. */
static bool is_of_proc(int link)
{
	struct statfs system;

	return !fstatfs(link, &system) && system.f_type == PROC_SUPER_MAGIC;
}

/* A link that leads to what need not have a name: /proc/PID/fd/N, /proc/PID/root. */
static bool is_magic_link(int directory, const char *name, int link)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	int fd;

	if (!is_of_proc(link))
		return false;
	fd = syscall(SYS_openat2, directory, name, &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/* Whoever can write the directory may have put there another name of a link that root made for other ends. */
static bool is_trusted_link(int directory, int link, const struct stat *of_link)
{
	struct stat status;

	if (is_of_proc(link))
		return true;
	return is_trusted_owner(of_link) &&
	       (of_link->st_nlink == 1 || (!fstat(directory, &status) && is_private_directory(&status)));
}

static int link_read(int link, char text[PATH_MAX], int *links_left)
{
	ssize_t length;

	if (!--*links_left)
		return -ELOOP;
	length = readlinkat(link, "", text, PATH_MAX);
	if (length < 0)
		return -errno;
	if (!length || length == PATH_MAX)
		return length ? -ENAMETOOLONG : -ENOENT;
	text[length] = '\0';
	return 0;
}

/* --- Directories ---------------------------------------------------------------------------- */

static int walk(int from, const char *path, size_t length, int *links_left);

static int follow(int directory, const char *name, int link, int *links_left)
{
	char text[PATH_MAX];
	struct stat status, target;
	int fd, err;

	if (fstat(link, &status))
		return -errno;
	if (!S_ISLNK(status.st_mode))
		return -ENOTDIR;
	if (is_magic_link(directory, name, link))
		return -ELOOP;
	err = link_read(link, text, links_left);
	if (err)
		return err;
	fd = walk(directory, text, strlen(text), links_left);
	if (fd < 0 || is_trusted_link(directory, link, &status))
		return fd;
	if (!fstat(fd, &target) && target.st_uid == status.st_uid && status.st_uid)
		return fd;
	close(fd);
	return -ELOOP;
}

static int step(int directory, const char *name, int *links_left)
{
	/* Not without O_DIRECTORY: what is mounted when it is first used has to be. */
	int fd = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), link;

	if (fd >= 0 || errno != ENOTDIR)
		return fd >= 0 ? fd : -errno;
	link = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (link < 0)
		return -errno;
	fd = follow(directory, name, link, links_left);
	close(link);
	return fd;
}

/* The directory to which the path leads, from another one, or a negative errno. */
static int walk(int from, const char *path, size_t length, int *links_left)
{
	const char *end = path + length;
	int at = openat(from, length && *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
	char name[NAME_MAX + 1];

	if (at < 0)
		return -errno;
	while (at >= 0 && path < end) {
		size_t count = strcspn(path, "/");

		if (count > (size_t)(end - path))
			count = end - path;
		if (count > NAME_MAX) {
			next = -ENAMETOOLONG;
		} else if (count) {
			memcpy(name, path, count);
			name[count] = '\0';
			next = step(at, name, links_left);
		} else {
			path++;
			continue;
		}
		close(at);
		at = next;
		path += count;
	}
	return at;
}

/* Where the name begins in a path. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash - path + 1 : 0;
}

int out_path_directory(const char *path)
{
	int links_left = LINKS_MAX;

	return walk(AT_FDCWD, path, directory_length(path), &links_left);
}

/* --- The file ------------------------------------------------------------------------------- */

/* Only of our own: those of others are theirs to write. */
static int find_descriptor(struct out_path *out)
{
	struct stat own;
	char *end;
	long number = strtol(out->name, &end, 10);

	if (stat("/proc/self/fd", &own) || own.st_dev != out->directory_status.st_dev ||
	    own.st_ino != out->directory_status.st_ino || *end || end == out->name)
		return -ELOOP;
	out->descriptor = number;
	return 0;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int out_path_look_again(struct out_path *out)
{
	drop(&out->file);
	out->status = (struct stat){ 0 };
	out->file = openat(out->directory, out->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (out->file < 0)
		return errno == ENOENT ? 0 : -errno;
	return fstat(out->file, &out->status) ? -errno : 0;
}

/* One step along a path: finds what bears its name, or leaves in it where a link leads. */
static int look(struct out_path *out, int from, char path[PATH_MAX], bool *is_link, int *links_left)
{
	size_t length = directory_length(path);
	int err;

	*is_link = false;
	out->directory = walk(from, path, length, links_left);
	if (out->directory < 0)
		return out->directory;
	if (fstat(out->directory, &out->directory_status))
		return -errno;
	if (strlen(path + length) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(out->name, path + length);
	if (!*out->name || !strcmp(out->name, ".") || !strcmp(out->name, ".."))
		return -EISDIR;
	err = out_path_look_again(out);
	if (err || out->file < 0)
		return err;
	if (S_ISDIR(out->status.st_mode))
		return -EISDIR;
	if (!S_ISLNK(out->status.st_mode))
		return 0;
	if (is_magic_link(out->directory, out->name, out->file))
		return find_descriptor(out);
	if (!is_trusted_link(out->directory, out->file, &out->status))
		return -ELOOP;
	*is_link = true;
	return link_read(out->file, path, links_left);
}

int out_path_find(const char *path, struct out_path *out)
{
	char text[PATH_MAX];
	bool is_link = true;
	int from = AT_FDCWD, links_left = LINKS_MAX, err = 0;

	*out = (struct out_path){ .directory = -1, .file = -1, .descriptor = -1 };
	if (!*path)
		return -ENOENT;
	if (strlen(path) >= sizeof(text))
		return -ENAMETOOLONG;
	strcpy(text, path);
	while (!err && is_link) {
		err = look(out, from, text, &is_link, &links_left);
		if (from != AT_FDCWD)
			close(from);
		from = AT_FDCWD;
		if (err || !is_link)
			break;
		from = out->directory; /* where the link lies */
		out->directory = -1;
	}
	return err;
}

int out_path_find_at(int directory, const char *name, struct out_path *out)
{
	*out = (struct out_path){ .file = -1, .descriptor = -1 };
	out->directory = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (out->directory < 0 || fstat(out->directory, &out->directory_status))
		return -errno;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(out->name, name);
	return out_path_look_again(out);
}

void out_path_fini(struct out_path *out)
{
	drop(&out->directory);
	drop(&out->file);
}
