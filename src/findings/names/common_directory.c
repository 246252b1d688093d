/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/common_directory.h"

#include <string.h>

size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash - path : 0;
}

size_t common_directory(const char *a, size_t length, const char *b)
{
	size_t i = 0, slash = 0;

	for (; i < length && a[i] == b[i]; i++)
		if (a[i] == '/')
			slash = i;
	return i == length && b[i] == '/' ? length : slash;
}
