/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory that files have in common, as the beginning of one of their paths. */
#pragma once

#include <stddef.h>

/* How long the path of the directory is that a file is in; 0: that is only "/", or it is no path. */
size_t directory_length(const char *path);

/* How long that is which both are in: a directory of that length in a, and a path; 0: that is only "/". */
size_t common_directory(const char *a, size_t length, const char *b);
