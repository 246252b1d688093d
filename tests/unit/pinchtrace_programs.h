/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that record events, for tests of those who read them: parts of a test program that it runs anew, so that the
 * library starts in them with an environment of theirs. And where their areas are.
 */
#pragma once

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pinchtrace.h"
#include "pinchtrace_format.h"

/* --- Finding one ------------------------------------------------------------------------- */

/* How many areas a process has in its maps; the name of the last one. */
static inline int mapped_areas(pid_t pid, char *path, size_t path_bytes)
{
	char name[64], line[512], *found;
	unsigned long begin, begin_last = 0;
	int count = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps)) {
		/* The switches are a second mapping of the same file. */
		found = strstr(line, PINCHTRACE_NAME);
		if (!found || sscanf(line, "%lx-", &begin) != 1)
			continue;
		found = strpbrk(line, "/");
		line[strcspn(line, "\n")] = '\0';
		if (!begin_last || strcmp(path, found))
			count++;
		begin_last = begin;
		snprintf(path, path_bytes, "%s", found);
	}
	fclose(maps);
	return count;
}

/* A directory for areas, which goes with its files. */
static inline const char *directory_make(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/pinchtrace_test.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	CHECK(mkdtemp(path));
	return path;
}

/* Calls what is wanted with the path of each area in a directory; how many there are. */
static inline int directory_each(const char *directory, void (*visit)(const char *path, void *data), void *data)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[512];
	int count = 0;

	CHECK(entries);
	while ((entry = readdir(entries))) {
		if (strncmp(entry->d_name, PINCHTRACE_NAME, strlen(PINCHTRACE_NAME)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (visit)
			visit(path, data);
		count++;
	}
	closedir(entries);
	return count;
}

static inline void remove_file(const char *path, void *data)
{
	(void)data;
	unlink(path);
}

static inline void directory_remove(const char *directory)
{
	directory_each(directory, remove_file, NULL);
	CHECK_EQUAL(rmdir(directory), 0);
}

static inline void copy_path(const char *path, void *data)
{
	strcpy(data, path);
}

/* --- Programs to read -------------------------------------------------------------------- */

struct program {
	const char *name;
	void (*run)(void);
};

/* Defined by each test program; the last one has no name. */
extern const struct program programs[];

/* With an environment that names a program, this is that program, and not the tests. */
__attribute__((constructor)) static void program_run(void)
{
	const char *name = getenv("PINCHTRACE_PROGRAM");

	for (const struct program *program = programs; name && program->name; program++)
		if (strcmp(program->name, name) == 0) {
			program->run();
			exit(0);
		}
}

enum { SETTINGS_MAX = 4 };

/* settings: "PINCHTRACE_X=y", SETTINGS_MAX at most, and then NULL. */
static inline pid_t program_start_with(const char *name, const char *directory, const char *const *settings)
{
	char program[128], place[128];
	char *environment[4 + SETTINGS_MAX] = { program, place, (char *)"ASAN_OPTIONS=detect_leaks=0" };
	char *arguments[] = { (char *)"program", NULL };
	pid_t pid;

	snprintf(program, sizeof(program), "PINCHTRACE_PROGRAM=%s", name);
	snprintf(place, sizeof(place), "PINCHTRACE_DIR=%s", directory);
	for (int i = 0; i < SETTINGS_MAX && settings[i]; i++)
		environment[3 + i] = (char *)settings[i];
	pid = fork();
	CHECK_THAT(pid, >=, 0);
	if (!pid) {
		execve("/proc/self/exe", arguments, environment);
		_exit(127);
	}
	return pid;
}

/* setting: one of them, or NULL. */
static inline pid_t program_start(const char *name, const char *directory, const char *setting)
{
	const char *settings[] = { setting, NULL };

	return program_start_with(name, directory, settings);
}

/* The status as waitpid() has it. */
static inline int program_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static inline int program_do(const char *name, const char *directory, const char *setting)
{
	return program_wait(program_start(name, directory, setting));
}

/* In a program: ends it with a status that says where. */
#define MUST(condition)                                                                   \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                         \
		}                                                                         \
	} while (0)

/* Up to a minute, then a failure: waits until the condition holds. */
#define WAIT_FOR(condition)                                                                 \
	do {                                                                                \
		time_t begun_ = time(NULL);                                                 \
		while (!(condition)) {                                                      \
			if (time(NULL) - begun_ > 60)                                       \
				test_fail(__FILE__, __LINE__, "waited for %s", #condition); \
			sched_yield();                                                      \
		}                                                                           \
	} while (0)

static inline bool is_long(void)
{
	return getenv("LONG") != NULL;
}
