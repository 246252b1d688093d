/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/jit_place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "helper/close_file.h"
#include "helper/maps_file.h"
#include "helper/open_file.h"

/* The process's user and group, and its number in its own PID namespace. */
static int read_status(uint32_t pid, struct jit_place *place)
{
	char path[32], line[512];
	bool has_uid = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	place->own_pid = pid;
	place->gid = -1;
	while (fgets(line, sizeof(line), file)) {
		unsigned int id;

		if (sscanf(line, "Uid: %*u %u", &id) == 1) {
			place->uid = id;
			has_uid = true;
		} else if (sscanf(line, "Gid: %*u %*u %*u %u", &id) == 1) {
			place->gid = id;
		} else if (!strncmp(line, "NSpid:", 6) && strrchr(line, '\t')) {
			place->own_pid = strtoul(strrchr(line, '\t') + 1, NULL, 10);
		}
	}
	fclose(file);
	return has_uid ? 0 : -ENOENT;
}

int jit_place_find(uint32_t pid, struct jit_place *place)
{
	struct jit_place found = { .pid = pid };
	int err = read_status(pid, &found);

	if (err)
		return err;
	found.root_fd = file_root(pid);
	if (found.root_fd < 0)
		return found.root_fd;
	jit_place_close(place);
	*place = found;
	return 0;
}

void jit_place_close(struct jit_place *place)
{
	if (place->pid)
		close(place->root_fd);
	*place = (struct jit_place){ 0 };
}

/* What a process has mapped, that may be its jit-PID.dump. */
struct dump_search {
	char name[32];
	char *path;
};

static void on_mapped(void *data, const struct file_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	struct dump_search *search = data;

	if (slash && !strcmp(slash + 1, search->name) && !search->path)
		search->path = xstrdup(mapping->path);
}

static int open_dump(const struct jit_place *place)
{
	struct dump_search search = { .path = NULL };
	int fd = -ENOENT;

	snprintf(search.name, sizeof(search.name), "jit-%u.dump", place->own_pid);
	maps_file_read(place->pid, on_mapped, &search);
	if (search.path)
		fd = file_open_below(place->root_fd, search.path, false);
	free(search.path);
	return fd;
}

/*
 * The process's user has made it, under this name alone, and nobody else writes to it. Where the umask is 002,
 * as where each user has a group of their own, the process's own group may.
 */
static int check_trust(int fd, const struct jit_place *place)
{
	struct stat status;

	if (fstat(fd, &status) || status.st_uid != place->uid || status.st_nlink != 1)
		return -EPERM;
	if (status.st_mode & S_IWOTH || (status.st_mode & S_IWGRP && status.st_gid != place->gid))
		return -EKEYREJECTED;
	return 0;
}

int jit_place_open(const struct jit_place *place)
{
	char path[64];
	int fd, err;

	if (!place->pid)
		return -ENOENT;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", place->own_pid);
	fd = file_open_below(place->root_fd, path, false);
	if (fd == -ENOENT)
		fd = open_dump(place);
	/* A link, or no regular file. */
	if (fd == -ELOOP || fd == -EINVAL)
		return -EPERM;
	if (fd < 0)
		return fd;
	err = check_trust(fd, place);
	if (!err)
		return fd;
	file_close(fd);
	return err;
}
