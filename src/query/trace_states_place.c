/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/trace_states_place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/out/out_file.h"
#include "base/out/out_path.h"
#include "base/user_file.h"
#include "trace/trace_reader.h"

static const char suffix[] = ".states";

static const uint64_t cache_bytes_max = 4ull << 30; /* what is being made comes on top */

/* --- Where ---------------------------------------------------------------------------------- */

static bool find_beside(const char *trace_path, struct states_place *place)
{
	const char *slash = strrchr(trace_path, '/');
	struct stat status;

	*place = (struct states_place){ .directory = out_path_directory(trace_path) };
	if (place->directory < 0)
		return false;
	text_printf(&place->name, "%s%s", slash ? slash + 1 : trace_path, suffix);
	text_printf(&place->path, "%s%s", trace_path, suffix);
	return !fstat(place->directory, &status) && is_private_directory(&status);
}

/*
 * A trace says itself which one it is, and so could one that somebody made to be taken for another: beside it,
 * nobody can have, but a cache is for traces from anywhere.
 */
static uint64_t identity_of(const struct trace_reader *trace)
{
	struct stat status;
	uint64_t parts[6] = { 0 };

	if (!fstat(trace_reader_fd(trace), &status)) {
		parts[0] = status.st_dev;
		parts[1] = status.st_ino;
		parts[2] = status.st_mtim.tv_sec;
		parts[3] = status.st_mtim.tv_nsec;
		parts[4] = status.st_ctim.tv_sec;
		parts[5] = status.st_ctim.tv_nsec;
	}
	return XXH64(parts, sizeof(parts), 0);
}

static bool find_cache(const struct trace_reader *trace, struct states_place *place)
{
	const struct trace_extent *extent = trace_reader_extent(trace);

	*place = (struct states_place){ .is_cache = true };
	place->directory = user_cache_open("states", &place->path);
	text_printf(&place->name, "%016llx%016llx-%016llx%s", (unsigned long long)extent->id[0],
		    (unsigned long long)extent->id[1], (unsigned long long)identity_of(trace), suffix);
	text_printf(&place->path, "/%s", place->name.bytes);
	return place->directory >= 0;
}

static void place_fini(struct states_place *place)
{
	if (place->directory >= 0)
		close(place->directory);
	text_fini(&place->name);
	text_fini(&place->path);
}

void states_places_find(const char *trace_path, const struct trace_reader *trace, struct states_places *out)
{
	out->count = 0;
	if (find_beside(trace_path, &out->list[out->count]))
		out->count++;
	else
		place_fini(&out->list[out->count]);
	if (find_cache(trace, &out->list[out->count]))
		out->count++;
	else
		place_fini(&out->list[out->count]);
}

void states_places_fini(struct states_places *places)
{
	while (places->count)
		place_fini(&places->list[--places->count]);
}

/* --- What is there -------------------------------------------------------------------------- */

int states_place_open(const struct states_place *place)
{
	int fd = openat(place->directory, place->name.bytes, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode) || !is_trusted_owner(&status) ||
			status.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void states_place_use(const struct states_place *place)
{
	if (place->is_cache)
		utimensat(place->directory, place->name.bytes, NULL, AT_SYMLINK_NOFOLLOW);
}

/* --- What is left over ---------------------------------------------------------------------- */

/* FILE.states.PID, as versions before this one wrote it; only its writer has it locked. */
static bool is_left_over(const struct states_place *place, const char *name)
{
	size_t length = strlen(place->name.bytes);
	struct stat status;
	const char *digit;
	bool is_free;
	int fd;

	if (strncmp(name, place->name.bytes, length) || name[length] != '.')
		return false;
	for (digit = name + length + 1; isdigit((unsigned char)*digit);)
		digit++;
	if (*digit || digit == name + length + 1)
		return false;
	fd = openat(place->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_free = !fstat(fd, &status) && S_ISREG(status.st_mode) && !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return is_free;
}

struct cached {
	int64_t used_ns;
	uint64_t size_bytes;
	char name[NAME_MAX + 1];
};

static int compare_ages(const void *a, const void *b)
{
	const struct cached *one = a, *other = b;

	return (one->used_ns > other->used_ns) - (one->used_ns < other->used_ns);
}

static bool is_states(int directory, const char *name, struct stat *status)
{
	size_t length = strlen(name);

	return length >= sizeof(suffix) && !strcmp(name + length - (sizeof(suffix) - 1), suffix) &&
	       !fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status->st_mode);
}

/* The oldest go until the rest has space. */
static void trim(int directory, struct cached *list, size_t count)
{
	uint64_t total_bytes = 0;

	for (size_t i = 0; i < count; i++)
		total_bytes += list[i].size_bytes;
	if (total_bytes > cache_bytes_max)
		qsort(list, count, sizeof(*list), compare_ages);
	for (size_t i = 0; i < count && total_bytes > cache_bytes_max; i++) {
		unlinkat(directory, list[i].name, 0);
		total_bytes -= list[i].size_bytes;
	}
}

static void sweep(const struct states_place *place)
{
	int fd = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct cached *list = NULL;
	const struct dirent *entry;
	struct stat status;
	size_t count = 0;

	while (directory && (entry = readdir(directory))) {
		if (is_left_over(place, entry->d_name)) {
			unlinkat(place->directory, entry->d_name, 0);
		} else if (place->is_cache && is_states(place->directory, entry->d_name, &status)) {
			list = xrealloc(list, count + 1, sizeof(*list));
			list[count] = (struct cached){
				.used_ns = status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec,
				.size_bytes = status.st_blocks * 512ull,
			};
			strcpy(list[count++].name, entry->d_name);
		}
	}
	trim(place->directory, list, count);
	free(list);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
}

int states_place_make(const struct states_place *place, struct out_file **out)
{
	int err = out_file_open_at(place->directory, place->name.bytes, 0, out);

	if (!err)
		sweep(place);
	return err;
}
