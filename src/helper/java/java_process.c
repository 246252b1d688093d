/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that does not expect SIGQUIT is killed by it, and a virtual machine that does not take it for the begin of
 * a connection writes all its stacks to its output. OpenJ9 has a libjvm.so, too, and another protocol.
 */
#include "helper/java/java_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "helper/maps_file.h"

enum { ARGUMENTS_BYTES_MAX = 1 << 20 };

struct machine_search {
	bool has_hotspot, has_other;
};

static void on_mapped(void *data, const struct file_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	struct machine_search *search = data;

	search->has_hotspot |= slash && !strncmp(slash, "/libjvm.so", strlen("/libjvm.so"));
	search->has_other |= slash && !strncmp(slash, "/libj9vm", strlen("/libj9vm"));
}

static bool is_hotspot(uint32_t pid)
{
	struct machine_search search = { 0 };

	maps_file_read(pid, on_mapped, &search);
	return search.has_hotspot && !search.has_other;
}

static bool catches_sigquit(uint32_t pid)
{
	unsigned long long caught = 0;
	char path[32], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	if (file)
		fclose(file);
	return caught >> (SIGQUIT - 1) & 1;
}

/* Whether a file of /proc/PID has the words; what is longer than the bound may have them. */
static bool may_have(uint32_t pid, const char *name, const char *words)
{
	char *bytes = xcalloc(ARGUMENTS_BYTES_MAX, 1), path[32];
	size_t n = 0;
	FILE *file;
	bool has;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	file = fopen(path, "re");
	if (file) {
		n = fread(bytes, 1, ARGUMENTS_BYTES_MAX, file);
		fclose(file);
	}
	has = n == ARGUMENTS_BYTES_MAX || memmem(bytes, n, words, strlen(words));
	free(bytes);
	return has;
}

/* Options come from the command line, and from variables such as JAVA_TOOL_OPTIONS. */
static bool may_have_option(uint32_t pid, const char *option)
{
	return may_have(pid, "cmdline", option) || may_have(pid, "environ", option);
}

static int open_directory(int root_fd)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return syscall(SYS_openat2, root_fd, "/tmp", &how, sizeof(how));
}

enum java_result java_process_open(uint32_t pid, struct java_process *process)
{
	struct java_process opened = { .process_fd = syscall(SYS_pidfd_open, pid, 0), .directory_fd = -1 };
	enum java_result result = JAVA_WRITTEN;

	if (opened.process_fd < 0 || jit_place_find(pid, &opened.place))
		result = JAVA_GONE;
	else if (!is_hotspot(pid))
		result = JAVA_OTHER;
	else if (!catches_sigquit(pid))
		result = JAVA_DEAF;
	else if (may_have_option(pid, "+DisableAttachMechanism"))
		result = JAVA_DISABLED;
	if (result == JAVA_WRITTEN) {
		opened.directory_fd = open_directory(opened.place.root_fd);
		result = opened.directory_fd < 0 ? JAVA_DIRECTORY : JAVA_WRITTEN;
	}
	if (result == JAVA_WRITTEN)
		*process = opened;
	else
		java_process_close(&opened);
	return result;
}

void java_process_close(struct java_process *process)
{
	jit_place_close(&process->place);
	if (process->process_fd >= 0)
		close(process->process_fd);
	if (process->directory_fd >= 0)
		close(process->directory_fd);
}
