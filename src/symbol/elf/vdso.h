/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that the kernel maps into every process, as an ELF file. */
#pragma once

#include "symbol/elf/elf_file.h"

/* Copies this process's own. *bytes holds it and is to be freed after it is closed. */
int vdso_open(struct elf_file *file, void **bytes);
