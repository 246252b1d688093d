/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outside/programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "area/area.h"
#include "area/find.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "collect/target/targets.h"
#include "outside/event_names.h"

enum { FILES_MAX = 65536 };

static void program_fini(struct outside_program *program)
{
	area_close(program->area);
	event_names_free(program->names);
	free(program->path);
}

void outside_programs_fini(struct outside_programs *programs)
{
	size_t i;

	for (i = 0; i < programs->count; i++)
		program_fini(&programs->list[i]);
	free(programs->list);
	*programs = (struct outside_programs){ 0 };
}

static void on_text(void *data, const char *text, size_t length)
{
	event_names_take(data, text, length);
}

/* Takes the descriptor. 0, or a negative errno in silence. */
static int add(struct outside_programs *programs, uint32_t pid, const char *path, int fd)
{
	struct outside_program program = { .pid = pid, .fd = fd };
	int err = area_open(fd, &program.area);

	if (err) {
		close(fd);
		return err;
	}
	program.path = xstrdup(path);
	program.names = event_names_new();
	err = area_schemas(program.area, on_text, program.names);
	if (err) {
		program_fini(&program);
		return err;
	}
	ARRAY_GROW(programs->list, programs->count, programs->capacity, 8);
	programs->list[programs->count++] = program;
	return 0;
}

/* --- Of processes ------------------------------------------------------------------------ */

struct search {
	struct outside_programs *programs;
	uint32_t pid;
};

static void on_area(void *data, const struct area_found *found)
{
	struct search *search = data;

	add(search->programs, search->pid, found->path, found->fd);
}

static int say(uint32_t pid, int err)
{
	switch (err) {
	case -ENOENT:
		return fail_plain(err, "process %u records no events of its own: it is not linked with libpinchtrace",
				  pid);
	case -EACCES:
	case -EPERM:
		return fail(err, "cannot open the area of process %u: run as root, or as its user", pid);
	case -EXDEV:
		return fail_plain(err, "the area of process %u lies on a file system that pinch does not read", pid);
	default:
		return fail(err, "cannot find the area of process %u", pid);
	}
}

int outside_programs_find(struct outside_programs *programs, const struct pid_list *pids, bool is_writable,
			  bool is_quiet)
{
	struct search search = { .programs = programs };
	int found, err = 0;
	size_t i;

	for (i = 0; i < pids->count; i++) {
		search.pid = pids->pids[i];
		found = area_find(search.pid, is_writable, on_area, &search);
		if (found < 0)
			err = is_quiet ? found : say(search.pid, found);
	}
	return err;
}

/* --- Of files ---------------------------------------------------------------------------- */

static int open_file(int directory, const char *name)
{
	return openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
}

int outside_programs_open(struct outside_programs *programs, const char *path)
{
	int fd = open_file(AT_FDCWD, path), err;

	if (fd < 0)
		return fail(-errno, "cannot open %s", path);
	err = add(programs, 0, path, fd);
	if (err == -EBADMSG)
		return fail_plain(err, "%s is no area of a program's events", path);
	if (err)
		return fail(err, "cannot read %s", path);
	return 0;
}

/* Files that processes have mapped, by device and inode. */
struct mapped {
	struct table *files;
};

static uint64_t file_key(uint64_t device, uint64_t inode)
{
	return hash_u64(device) ^ inode;
}

static void on_mapped(void *data, uint64_t device, uint64_t inode)
{
	struct mapped *mapped = data;

	table_put(mapped->files, file_key(device, inode), mapped);
}

static int find_mapped(struct mapped *mapped)
{
	struct pid_list pids = { 0 };
	int err = targets_all(&pids);
	size_t i;

	for (i = 0; i < pids.count; i++)
		area_find_mapped(pids.pids[i], on_mapped, mapped);
	pid_list_fini(&pids);
	return err;
}

/* Of others, nobody but root can tell whether their processes live. */
static bool is_ended(int fd, const struct mapped *mapped)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && (!geteuid() || status.st_uid == geteuid()) &&
	       !table_find(mapped->files, file_key(status.st_dev, status.st_ino));
}

static void add_ended(struct outside_programs *programs, DIR *entries, const char *directory,
		      const struct mapped *mapped)
{
	struct text path = { 0 };
	struct dirent *entry;
	size_t count = 0;
	int fd;

	while ((entry = readdir(entries)) && count < FILES_MAX) {
		if (strncmp(entry->d_name, PINCHTRACE_NAME, strlen(PINCHTRACE_NAME)))
			continue;
		count++;
		fd = open_file(dirfd(entries), entry->d_name);
		if (fd < 0)
			continue;
		if (!is_ended(fd, mapped)) {
			close(fd);
			continue;
		}
		path.length = 0;
		text_printf(&path, "%s/%s", directory, entry->d_name);
		add(programs, 0, path.bytes, fd);
	}
	text_fini(&path);
}

int outside_programs_find_ended(struct outside_programs *programs, const char *directory)
{
	struct mapped mapped = { NULL };
	DIR *entries = opendir(directory);
	int err;

	if (!entries)
		return errno == ENOENT ? 0 : fail(-errno, "cannot list %s", directory);
	mapped.files = table_new();
	err = find_mapped(&mapped);
	if (!err)
		add_ended(programs, entries, directory, &mapped);
	table_free(mapped.files);
	closedir(entries);
	return err;
}
