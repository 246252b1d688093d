/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_store.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/out/out_path.h"
#include "base/text.h"

enum { DIRECTORY_MODE = 0750, HOST_BYTES = 65 };

struct agent_store {
	char *directory;
	uint64_t size_bytes, bytes;
	char host[HOST_BYTES];
};

/* A trace, with the history beside it, if there is one. */
struct kept {
	char *name;
	uint64_t bytes;
	bool has_reason;
};

struct kept_list {
	struct kept *list;
	size_t count, capacity;
	uint64_t bytes;
};

/* Nobody else may have a say in what is written and removed there. */
static int make_directory(const char *path)
{
	struct stat status;

	if (mkdir(path, DIRECTORY_MODE) && errno != EEXIST)
		return fail(-errno, "cannot make the directory %s", path);
	if (lstat(path, &status))
		return fail(-errno, "cannot use the directory %s", path);
	if (!S_ISDIR(status.st_mode) || !is_private_directory(&status))
		return fail_plain(
			-EPERM, "%s is no directory that this user alone can write: give another one with --to", path);
	return 0;
}

static int make_below(const struct agent_store *store, const char *name)
{
	struct text path = { 0 };
	int err;

	text_printf(&path, "%s/%s", store->directory, name);
	err = make_directory(path.bytes);
	text_fini(&path);
	return err;
}

int agent_store_open(const char *directory, uint64_t size_bytes, struct agent_store **out)
{
	struct agent_store *store = xcalloc(1, sizeof(*store));
	int err;

	store->directory = xstrdup(directory);
	store->size_bytes = size_bytes;
	if (gethostname(store->host, sizeof(store->host) - 1) || !*store->host || strchr(store->host, '/'))
		strcpy(store->host, "host");
	err = make_directory(directory);
	if (!err)
		err = make_below(store, "traces");
	if (!err)
		err = make_below(store, "rollups");
	if (err)
		agent_store_close(store);
	else
		*out = store;
	return err;
}

void agent_store_close(struct agent_store *store)
{
	if (!store)
		return;
	free(store->directory);
	free(store);
}

void agent_paths_fini(struct agent_paths *paths)
{
	text_fini(&paths->trace);
	text_fini(&paths->rollup);
	text_fini(&paths->rollup_part);
}

int agent_store_paths(const struct agent_store *store, const char *reason, struct agent_paths *paths)
{
	struct timespec now;
	struct tm day;
	char date[32], moment[32], below[64];
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &day);
	strftime(date, sizeof(date), "%Y-%m-%d", &day);
	strftime(moment, sizeof(moment), "%H%M%S", &day);
	snprintf(below, sizeof(below), "rollups/%s", date);
	err = make_below(store, below);
	if (err)
		return err;
	paths->trace.length = paths->rollup.length = paths->rollup_part.length = 0;
	text_printf(&paths->trace, "%s/traces/%s-%s.%03ld%s%s.pinch", store->directory, date, moment,
		    now.tv_nsec / 1000000, *reason ? "-" : "", reason);
	text_printf(&paths->rollup, "%s/%s/%s-%s.%03ld.jsonl", store->directory, below, store->host, moment,
		    now.tv_nsec / 1000000);
	text_printf(&paths->rollup_part, "%s.part", paths->rollup.bytes);
	return 0;
}

void agent_store_mark(struct agent_paths *paths, const char *reason)
{
	static const char end[] = ".pinch", states_end[] = ".states";
	size_t length = paths->trace.length - strlen(end);
	struct text marked = { 0 }, states = { 0 };

	text_put_bytes(&marked, paths->trace.bytes, length);
	text_printf(&marked, "-%s%s", reason, end);
	/* The history beside it, which has its name, is made again when it is wanted. */
	text_printf(&states, "%s%s", paths->trace.bytes, states_end);
	unlink(states.bytes);
	if (!rename(paths->trace.bytes, marked.bytes)) {
		paths->trace.length = 0;
		text_put(&paths->trace, marked.bytes);
	}
	text_fini(&marked);
	text_fini(&states);
}

/* --- Room --------------------------------------------------------------------------------------- */

/* What names of traces begin with; 0 stands for a digit. What has another name is not the agent's. */
static const char moment_form[] = "0000-00-00-000000.000";
enum { MOMENT_BYTES = sizeof(moment_form) - 1 };

static bool is_own_name(const char *name)
{
	const char *end = strstr(name, ".pinch");

	for (size_t i = 0; i < MOMENT_BYTES; i++)
		if (moment_form[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != moment_form[i])
			return false;
	return end && (!strcmp(end, ".pinch") || !strcmp(end, ".pinch.states"));
}

/* 2026-11-28-120000.123-signal.pinch */
static bool has_reason(const char *name)
{
	return name[MOMENT_BYTES] == '-';
}

static void take_file(struct kept_list *kept, int directory, const char *name)
{
	struct stat status;

	if (!is_own_name(name) || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return;
	ARRAY_GROW(kept->list, kept->count, kept->capacity, 64);
	kept->list[kept->count++] = (struct kept){
		.name = xstrdup(name),
		.bytes = (uint64_t)status.st_blocks * 512,
		.has_reason = has_reason(name),
	};
	kept->bytes += (uint64_t)status.st_blocks * 512;
}

/* Those that go first come first; a trace before the files beside it, whose names begin with its own. */
static int compare(const void *a, const void *b)
{
	const struct kept *left = a, *right = b;

	if (left->has_reason != right->has_reason)
		return left->has_reason - right->has_reason;
	return strcmp(left->name, right->name);
}

/* The directory is opened as it is: a link is not followed. */
static DIR *open_traces(const struct agent_store *store)
{
	struct text path = { 0 };
	DIR *files;
	int fd;

	text_printf(&path, "%s/traces", store->directory);
	fd = open(path.bytes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	text_fini(&path);
	files = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !files)
		close(fd);
	return files;
}

void agent_store_trim(struct agent_store *store)
{
	struct kept_list kept = { 0 };
	const struct dirent *entry;
	DIR *files = open_traces(store);

	if (!files)
		return;
	while ((entry = readdir(files)))
		take_file(&kept, dirfd(files), entry->d_name);
	if (kept.count)
		qsort(kept.list, kept.count, sizeof(*kept.list), compare);
	for (size_t i = 0; i < kept.count; i++) {
		if (kept.bytes > store->size_bytes && !unlinkat(dirfd(files), kept.list[i].name, 0))
			kept.bytes -= kept.list[i].bytes;
		free(kept.list[i].name);
	}
	store->bytes = kept.bytes;
	closedir(files);
	free(kept.list);
}

uint64_t agent_store_bytes(const struct agent_store *store)
{
	return store->bytes;
}
