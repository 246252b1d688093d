/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file holds a CPython interpreter: the executable, or libpython. */
#pragma once

#include <gelf.h>

#include "unwind/table_file.h"

/* Fills in file->python, whose segments are known. Without an interpreter it stays as it is. */
void python_file_find(Elf *elf, struct unwind_file *file);
