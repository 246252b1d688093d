/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/target/targets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"

enum { CGROUP_DEPTH_MAX = 32 };

void pid_list_fini(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){ 0 };
}

static bool has(const struct pid_list *list, uint32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

void pid_list_add(struct pid_list *list, uint32_t pid)
{
	if (has(list, pid))
		return;
	list->pids = xrealloc(list->pids, list->count + 1, sizeof(*list->pids));
	list->pids[list->count++] = pid;
}

/* Reads a small file of /proc/PID; bytes read, NUL-terminated, or a negative errno. */
static ssize_t read_proc(uint32_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buffer, size - 1);
	if (n < 0)
		n = -errno;
	else
		buffer[n] = '\0';
	close(fd);
	return n;
}

/* The process that a thread belongs to; 0 when there is none. */
static uint32_t process_of(uint32_t tid)
{
	char status[1024];
	const char *line;

	if (read_proc(tid, "status", status, sizeof(status)) <= 0)
		return 0;
	line = strstr(status, "\nTgid:");
	return line ? strtoul(line + 6, NULL, 10) : 0;
}

struct process_stat {
	char state;
	unsigned int parent, flags;
};

static bool stat_of(uint32_t pid, struct process_stat *out)
{
	char stat[512];
	const char *after_name;

	if (read_proc(pid, "stat", stat, sizeof(stat)) <= 0)
		return false;
	after_name = strrchr(stat, ')'); /* the name may contain anything */
	return after_name &&
	       sscanf(after_name + 1, " %c %u %*d %*d %*d %*d %u", &out->state, &out->parent, &out->flags) == 3;
}

/* Kernel threads have no program, but neither has a process that is about to be reaped. */
static bool is_kernel_thread(uint32_t pid)
{
	const unsigned int PF_KTHREAD = 0x00200000;
	struct process_stat stat;

	return stat_of(pid, &stat) && stat.flags & PF_KTHREAD;
}

static int add_pid(unsigned long number, struct pid_list *list, struct pid_list *gone)
{
	uint32_t pid;

	if (number > INT_MAX)
		return fail_plain(-ESRCH, "no process %lu: numbers of processes are smaller", number);
	pid = process_of(number);
	if (!pid) {
		pid_list_add(gone, number);
		return 0;
	}
	if (pid != number)
		warn("%lu is a thread of process %u: tracing the process", number, pid);
	if (pid == (uint32_t)getpid())
		return fail_plain(-EINVAL, "process %u is pinch itself", pid);
	if (is_kernel_thread(pid))
		return fail_plain(-EINVAL, "process %u is a kernel thread; pinch traces programs", pid);
	pid_list_add(list, pid);
	return 0;
}

int targets_by_pid(const char *text, struct pid_list *list, struct pid_list *gone)
{
	const char *at = text;

	do {
		char *end;
		unsigned long number;
		int err;

		errno = 0;
		number = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || (*end && *end != ',') || !number)
			return fail_plain(-EINVAL, "invalid PID '%s'", text);
		err = add_pid(number, list, gone);
		if (err)
			return err;
		at = end + 1;
		if (!*end)
			break;
	} while (true);
	return 0;
}

static bool has_name(uint32_t pid, const char *name)
{
	char comm[32], path[64], program[PATH_MAX];
	const char *base;
	ssize_t n;

	n = read_proc(pid, "comm", comm, sizeof(comm));
	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	if (n > 0 && !strcmp(comm, name))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, program, sizeof(program) - 1);
	if (n <= 0)
		return false;
	program[n] = '\0';
	base = strrchr(program, '/');
	return base && !strcmp(base + 1, name);
}

/* Adds each process that want() accepts. */
static int scan_processes(bool (*want)(uint32_t pid, const char *argument), const char *argument, struct pid_list *list)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		return fail(-errno, "cannot list the processes in /proc");
	while ((entry = readdir(proc))) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);

		if (!*end && pid && pid != (unsigned long)getpid() && want(pid, argument))
			pid_list_add(list, pid);
	}
	closedir(proc);
	return 0;
}

int targets_by_name(const char *name, struct pid_list *list)
{
	size_t before = list->count;
	int err = scan_processes(has_name, name, list);

	if (!err && list->count == before)
		err = fail_plain(-ESRCH,
				 "no process is called '%s'; the command name or the program's file name must match "
				 "exactly",
				 name);
	return err;
}

static bool is_program(uint32_t pid, const char *argument)
{
	(void)argument;
	return !is_kernel_thread(pid);
}

int targets_all(struct pid_list *list)
{
	return scan_processes(is_program, NULL, list);
}

static int scan_cgroup(int directory, unsigned int depth, struct pid_list *list)
{
	struct dirent *entry;
	unsigned int pid;
	FILE *file;
	DIR *dir;
	int fd;

	fd = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		close(directory);
		return -errno;
	}
	file = fdopen(fd, "r");
	while (file && fscanf(file, "%u", &pid) == 1)
		if (pid && pid != (unsigned int)getpid())
			pid_list_add(list, pid);
	if (file)
		fclose(file);
	dir = fdopendir(directory);
	while (dir && depth < CGROUP_DEPTH_MAX && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			scan_cgroup(fd, depth + 1, list);
	}
	if (dir)
		closedir(dir);
	return 0;
}

int targets_by_cgroup(const char *name, struct pid_list *list, int *out)
{
	char path[PATH_MAX];
	size_t before = list->count;
	int fd, err;

	snprintf(path, sizeof(path), "%s%s", *name == '/' || *name == '.' ? "" : "/sys/fs/cgroup/", name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(-errno, "cannot open the cgroup %s", path);
	err = scan_cgroup(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, list);
	if (err)
		err = fail_plain(err, "%s is not a cgroup: it has no cgroup.procs", path);
	else if (list->count == before)
		err = fail_plain(-ESRCH, "the cgroup %s is empty", path);
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

void targets_in_cgroup(int fd, struct pid_list *list)
{
	/* Opened anew, so that reading it begins at its beginning. */
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (again >= 0)
		scan_cgroup(again, 0, list);
}

struct family {
	uint32_t pid, parent;
};

/* All processes that have not ended, with a program of their own, and their parents. Heap, the caller's. */
static struct family *list_families(size_t *count)
{
	struct pid_list all = { 0 };
	struct family *families;
	struct process_stat stat;

	targets_all(&all);
	families = xcalloc(all.count, sizeof(*families));
	*count = 0;
	for (size_t i = 0; i < all.count; i++)
		if (stat_of(all.pids[i], &stat) && stat.state != 'Z' && stat.state != 'X')
			families[(*count)++] = (struct family){ all.pids[i], stat.parent };
	pid_list_fini(&all);
	return families;
}

void targets_find_descendants(const struct pid_list *list, struct pid_list *descendants)
{
	size_t count, before;
	struct family *families = list_families(&count);

	/* A child need not come behind its parent: numbers begin anew. */
	do {
		before = descendants->count;
		for (size_t i = 0; i < count; i++)
			if (!has(list, families[i].pid) &&
			    (has(list, families[i].parent) || has(descendants, families[i].parent)))
				pid_list_add(descendants, families[i].pid);
	} while (descendants->count > before);
	free(families);
}

bool targets_is_there(uint32_t pid)
{
	return process_of(pid);
}
