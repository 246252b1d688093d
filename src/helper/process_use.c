/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/process_use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 512, SECOND_NS = 1000000000 };

static bool read_text(uint32_t pid, const char *name, char text[FILE_BYTES])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, FILE_BYTES - 1);
	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n > 0;
}

static bool parse_line(const char *text, const char *key, uint64_t *value)
{
	const char *line = strstr(text, key);

	if (!line || line == text || line[-1] != '\n')
		return false;
	*value = strtoull(line + strlen(key), NULL, 10);
	return true;
}

bool process_use_parse_io(const char *text, struct process_use *out)
{
	return parse_line(text, "wchar: ", &out->call_bytes) && parse_line(text, "read_bytes: ", &out->read_bytes) &&
	       parse_line(text, "write_bytes: ", &out->write_bytes);
}

bool process_use_parse_stat(const char *text, struct process_use *out)
{
	/* The name is in parentheses, and may have such itself. */
	const char *rest = strrchr(text, ')');
	unsigned long long user, kernel;

	if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &kernel) != 2)
		return false;
	out->cpu_ns = (user + kernel) * (SECOND_NS / sysconf(_SC_CLK_TCK));
	return true;
}

/* Who may not examine a process may know its CPU time still. */
static bool read_process(uint32_t pid, struct process_use *out)
{
	char text[FILE_BYTES];
	bool has_io, has_stat;

	*out = (struct process_use){ .pid = pid };
	has_io = read_text(pid, "io", text) && process_use_parse_io(text, out);
	has_stat = read_text(pid, "stat", text) && process_use_parse_stat(text, out);
	if (!has_io && !has_stat)
		return false;
	read_text(pid, "comm", text);
	text[strcspn(text, "\n")] = '\0';
	memcpy(out->name, text, strnlen(text, sizeof(out->name) - 1));
	return true;
}

int process_use_read(void (*on_each)(void *data, const struct process_use *use), void *data)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	struct process_use use;
	size_t count = 0;

	if (!directory)
		return -errno;
	while (count < PROCESS_USE_MAX && (entry = readdir(directory))) {
		uint32_t pid = strtoul(entry->d_name, NULL, 10);

		if (!pid || !read_process(pid, &use))
			continue;
		on_each(data, &use);
		count++;
	}
	closedir(directory);
	return 0;
}
