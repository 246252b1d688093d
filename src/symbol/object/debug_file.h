/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information that was split off a program: looked for by build-id and by .gnu_debuglink,
 * in the file tree of the process first, then in ours, then at a debuginfod server.
 * Whoever runs a program chooses the file tree that it sees, and what build-ids its files have: a file
 * counts only if root or the program's own owner has made it (file_stamp_may_describe()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/elf/elf_file.h"

struct file_source;

/*
 * 0; -ENOENT; -ESTALE when there is a file of that name, but made for another build. path: of
 * the program, as its process sees it; source: NULL if there is nobody to ask.
 */
int debug_file_open(const struct elf_file *program, const struct file_source *source, const char *path,
		    struct elf_file *out);

/* The file that debug shares strings and entries with (dwz). -ENOENT when it names none. */
int debug_file_open_shared(const struct elf_file *debug, const struct file_source *source, struct elf_file *out);

/* True when debug names such a file: without it, its entries cannot be understood. */
bool debug_file_has_shared(const struct elf_file *debug);
