/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/cgroup_limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/external_threads.h"
#include "session/session.h"

enum { PROCESSES_MAX = 256, GROUPS_MAX = 32, AT_ONCE = 16, FILE_BYTES = 8192, PATH_BYTES = 512 };

/* Version 1 rounds "no limit" down to a page below 2^63. */
static const uint64_t unlimited_min = 1ull << 62;

struct group {
	char *path; /* within the hierarchy: "/a/b" */
	struct cgroup_memory begin;
};

struct cgroup_limits {
	struct session *session;
	char *root;         /* where the hierarchy is mounted; NULL: nowhere */
	bool is_v1;         /* a hierarchy of the memory controller alone */
	struct table *seen; /* this struct itself, by pid + 1 of each process that has come */
	uint32_t waiting[PROCESSES_MAX];
	size_t waiting_count;
	struct group groups[GROUPS_MAX];
	size_t group_count;
};

/* --- Files --------------------------------------------------------------------------------------- */

/* The text of a small file, cut where it is longer; empty: it cannot be read. */
static void read_text(const char *path, char text[FILE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, FILE_BYTES - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

uint64_t cgroup_counter(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == ' ')
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}

uint64_t cgroup_limit(const char *text)
{
	uint64_t limit = *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;

	return limit < unlimited_min ? limit : UINT64_MAX;
}

static bool has_word(const char *words, size_t length, const char *word)
{
	size_t word_length = strlen(word);

	for (const char *at = words; at < words + length; at += strcspn(at, ",:") + 1)
		if (!strncmp(at, word, word_length) && (at + word_length == words + length || at[word_length] == ','))
			return true;
	return false;
}

const char *cgroup_path(char *text, bool is_v1)
{
	for (char *line = text, *next; *line; line = next) {
		char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
		size_t length = strcspn(line, "\n");

		next = line + length + (line[length] == '\n');
		if (!path || path > line + length)
			continue;
		controllers++;
		if (is_v1 ? !has_word(controllers, path - controllers, "memory") : path != controllers)
			continue;
		line[length] = '\0';
		/* A path that leads above the root of our name space, and a cgroup that is gone. */
		return path[1] == '/' && !strstr(path, "/..") && !strstr(path, " (deleted)") ? path + 1 : NULL;
	}
	return NULL;
}

/* Where the memory controller's cgroups are. */
static void find_root(struct cgroup_limits *limits)
{
	char line[1024], place[PATH_BYTES], kind[32], options[256];
	FILE *mounts = fopen("/proc/self/mounts", "re");

	while (mounts && fgets(line, sizeof(line), mounts)) {
		bool is_v1;

		if (sscanf(line, "%*s %511s %31s %255s", place, kind, options) != 3)
			continue;
		is_v1 = !strcmp(kind, "cgroup") && has_word(options, strlen(options), "memory");
		if (!is_v1 && (strcmp(kind, "cgroup2") != 0 || limits->root))
			continue;
		free(limits->root);
		limits->root = xstrdup(place);
		limits->is_v1 = is_v1;
		if (is_v1)
			break; /* the controller is in one hierarchy only */
	}
	if (mounts)
		fclose(mounts);
}

static void read_file(const struct cgroup_limits *limits, const char *group, const char *name, char text[FILE_BYTES])
{
	char path[2 * PATH_BYTES];

	snprintf(path, sizeof(path), "%s%s/%s", limits->root, group, name);
	read_text(path, text);
}

/* Counters of version 2 have the groups below in them, and so have those of version 1 that begin with "total_". */
static struct cgroup_memory read_memory(const struct cgroup_limits *limits, const char *group)
{
	struct cgroup_memory out = { .limit_bytes = UINT64_MAX };
	char text[FILE_BYTES];

	read_file(limits, group, limits->is_v1 ? "memory.limit_in_bytes" : "memory.max", text);
	out.limit_bytes = cgroup_limit(text);
	if (limits->is_v1) {
		read_file(limits, group, "memory.failcnt", text);
		out.hits = strtoull(text, NULL, 10);
	} else {
		uint64_t high_bytes;

		read_file(limits, group, "memory.high", text);
		high_bytes = cgroup_limit(text);
		if (high_bytes < out.limit_bytes)
			out.limit_bytes = high_bytes;
		read_file(limits, group, "memory.events", text);
		out.hits = cgroup_counter(text, "high") + cgroup_counter(text, "max");
	}
	read_file(limits, group, "memory.stat", text);
	out.file_refaults =
		cgroup_counter(text, limits->is_v1 ? "total_workingset_refault_file" : "workingset_refault_file");
	out.swap_refaults =
		cgroup_counter(text, limits->is_v1 ? "total_workingset_refault_anon" : "workingset_refault_anon");
	return out;
}

/* --- Processes ------------------------------------------------------------------------------------ */

static bool has_group(const struct cgroup_limits *limits, const char *path)
{
	for (size_t i = 0; i < limits->group_count; i++)
		if (!strcmp(limits->groups[i].path, path))
			return true;
	return false;
}

/* A group with a limit, and those above it. */
static void add_groups(struct cgroup_limits *limits, const char *path)
{
	char at[PATH_BYTES];

	if (strlen(path) >= sizeof(at))
		return;
	strcpy(at, path);
	while (strlen(at) > 1 && limits->group_count < GROUPS_MAX && !has_group(limits, at)) {
		struct group *group = &limits->groups[limits->group_count++];

		*group = (struct group){ xstrdup(at), read_memory(limits, at) };
		*strrchr(at, '/') = '\0';
	}
}

static void expect(struct cgroup_limits *limits, uint32_t pid, uint32_t thread)
{
	if (!limits->root || !thread_is_traced(thread) || table_count(limits->seen) == PROCESSES_MAX ||
	    table_find(limits->seen, (uint64_t)pid + 1))
		return;
	table_put(limits->seen, (uint64_t)pid + 1, limits);
	limits->waiting[limits->waiting_count++] = pid;
}

static void on_born(void *data, const struct ev_header *header)
{
	expect(data, ((const struct ev_thread_born *)header)->pid, header->thread);
}

static void on_found(void *data, const struct ev_header *header)
{
	expect(data, ((const struct ev_thread_found *)header)->pid, header->thread);
}

static const struct event_handler handlers[] = {
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ 0 },
};

struct cgroup_limits *cgroup_limits_new(struct session *session)
{
	struct cgroup_limits *limits = xcalloc(1, sizeof(*limits));

	limits->session = session;
	limits->seen = table_new();
	find_root(limits);
	session_subscribe(session, handlers, limits);
	return limits;
}

void cgroup_limits_free(struct cgroup_limits *limits)
{
	if (!limits)
		return;
	for (size_t i = 0; i < limits->group_count; i++)
		free(limits->groups[i].path);
	table_free(limits->seen);
	free(limits->root);
	free(limits);
}

void cgroup_limits_step(struct cgroup_limits *limits)
{
	char path[64], text[FILE_BYTES];

	for (size_t i = 0; i < AT_ONCE && limits->waiting_count; i++) {
		const char *group;

		snprintf(path, sizeof(path), "/proc/%u/cgroup", limits->waiting[--limits->waiting_count]);
		read_text(path, text);
		group = cgroup_path(text, limits->is_v1);
		if (group)
			add_groups(limits, group);
	}
}

static void say(struct cgroup_limits *limits, const struct group *group)
{
	struct cgroup_memory end = read_memory(limits, group->path);
	struct ev_resource_memory_limit e = {
		.header = { .time_ns = session_time_ns(limits->session),
			    .subsys = TRACE_SUBSYS_RESOURCE,
			    .event = TRACE_EVENT_RESOURCE_MEMORY_LIMIT },
		.limit_bytes = end.limit_bytes,
		.hits = end.hits - group->begin.hits,
		.file_refaults = end.file_refaults - group->begin.file_refaults,
		.swap_refaults = end.swap_refaults - group->begin.swap_refaults,
	};
	size_t length = strlen(group->path), room = sizeof(e.cgroup) - 1;

	if (end.limit_bytes == UINT64_MAX || end.hits <= group->begin.hits)
		return;
	memcpy(e.cgroup, group->path + (length > room ? length - room : 0), length > room ? room : length);
	session_hand_out(limits->session, &e.header);
}

void cgroup_limits_finish(struct cgroup_limits *limits)
{
	for (size_t i = 0; i < limits->group_count; i++)
		say(limits, &limits->groups[i]);
}
