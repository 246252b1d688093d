/* SPDX-License-Identifier: GPL-2.0-or-later */
/* .gnu_debugdata: a compressed ELF file within a stripped one, that has its symbol table. */
#pragma once

#include "symbol/elf/elf_file.h"

/* *bytes holds the file and is to be freed after it is closed. -ENOENT, -EINVAL. */
int mini_debug_open(Elf *elf, struct elf_file *file, void **bytes);
