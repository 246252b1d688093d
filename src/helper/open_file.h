/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files whose paths a traced program chose. Only regular files are ever opened: to open a
 * device or a FIFO can block, or have effects that nobody asked for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A descriptor to read the regular file, or -errno; -EINVAL when it is something else. */
int file_open(const char *path);

/*
 * The same in the file tree that process pid sees: links in it cannot lead outside. pid 0 is
 * this process.
 */
int file_open_in_root(uint32_t pid, const char *path, bool follows_last_link);

/* That tree's descriptor, which outlives the process, or -errno; and opening by it. */
int file_root(uint32_t pid);
int file_open_below(int root_fd, const char *path, bool follows_last_link);
