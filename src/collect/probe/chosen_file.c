/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/chosen_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/file_stamp.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool chosen_file_may_be(const char *chosen, const char *path)
{
	if (strchr(chosen, '/'))
		return !strcmp(chosen, path) || !strcmp(base_name(chosen), base_name(path));
	return !strcmp(chosen, base_name(path));
}

bool chosen_file_is(const char *chosen, const struct file_stamp *stamp)
{
	struct stat named;

	if (!strchr(chosen, '/'))
		return true;
	/* In another file tree the path may be another file's, and this one cannot be distinguished from it. */
	return stat(chosen, &named) || (named.st_dev == stamp->device && named.st_ino == stamp->inode);
}

/* As a shell would look for it. */
static bool find_along_path(const char *program, char path[PATH_MAX])
{
	const char *folder = getenv("PATH"), *end;
	char name[PATH_MAX];

	for (; folder && *folder; folder = *end ? end + 1 : end) {
		end = folder + strcspn(folder, ":");
		snprintf(name, sizeof(name), "%.*s/%s", (int)(end - folder), folder, program);
		if (!access(name, X_OK))
			return realpath(name, path);
	}
	return false;
}

bool chosen_file_find_program(const char *program, char path[PATH_MAX])
{
	if (!program)
		return false;
	return strchr(program, '/') ? realpath(program, path) != NULL : find_along_path(program, path);
}

bool chosen_file_find(const char *chosen, const char *program, char path[PATH_MAX])
{
	if (strchr(chosen, '/'))
		return realpath(chosen, path);
	return program && !strcmp(base_name(program), chosen) && chosen_file_find_program(program, path);
}
