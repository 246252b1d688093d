/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

enum { DIRECTORY_MODE = 0750, HOST_BYTES = 65 };

struct agent_store {
	char *directory;
	uint64_t size_bytes, bytes;
	char host[HOST_BYTES];
};

/* A trace, with the history beside it, if there is one. */
struct kept {
	char *path;
	uint64_t bytes;
	bool has_reason;
};

struct kept_list {
	struct kept *list;
	size_t count, capacity;
	uint64_t bytes;
};

static int make_directory(const char *path)
{
	return mkdir(path, DIRECTORY_MODE) && errno != EEXIST ? fail(-errno, "cannot make the directory %s", path) : 0;
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

/* --- Room --------------------------------------------------------------------------------------- */

/* Date, time and reason: 2026-11-28-120000.123-signal.pinch */
static bool has_reason(const char *name)
{
	enum { DATE_AND_TIME = sizeof("2026-11-28-120000.123") - 1 };

	return strlen(name) > DATE_AND_TIME && name[DATE_AND_TIME] == '-';
}

static void take_file(struct kept_list *kept, const char *directory, const char *name)
{
	struct text path = { 0 };
	struct stat status;

	text_printf(&path, "%s/%s", directory, name);
	if (!lstat(path.bytes, &status) && S_ISREG(status.st_mode)) {
		ARRAY_GROW(kept->list, kept->count, kept->capacity, 64);
		kept->list[kept->count++] = (struct kept){
			.path = xstrdup(path.bytes),
			.bytes = (uint64_t)status.st_blocks * 512,
			.has_reason = has_reason(name),
		};
		kept->bytes += (uint64_t)status.st_blocks * 512;
	}
	text_fini(&path);
}

/* Those that go first come first; a trace before the files beside it, whose names begin with its own. */
static int compare(const void *a, const void *b)
{
	const struct kept *left = a, *right = b;

	if (left->has_reason != right->has_reason)
		return left->has_reason - right->has_reason;
	return strcmp(left->path, right->path);
}

void agent_store_trim(struct agent_store *store)
{
	struct kept_list kept = { 0 };
	struct text directory = { 0 };
	const struct dirent *entry;
	DIR *files;

	text_printf(&directory, "%s/traces", store->directory);
	files = opendir(directory.bytes);
	while (files && (entry = readdir(files)))
		take_file(&kept, directory.bytes, entry->d_name);
	if (files)
		closedir(files);
	if (kept.count)
		qsort(kept.list, kept.count, sizeof(*kept.list), compare);
	for (size_t i = 0; i < kept.count; i++) {
		if (kept.bytes > store->size_bytes && !unlink(kept.list[i].path))
			kept.bytes -= kept.list[i].bytes;
		free(kept.list[i].path);
	}
	store->bytes = kept.bytes;
	free(kept.list);
	text_fini(&directory);
}

uint64_t agent_store_bytes(const struct agent_store *store)
{
	return store->bytes;
}
