/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file holds a Ruby interpreter (MRI): the executable, or libruby. */
#pragma once

#include <gelf.h>

#include "unwind/table_file.h"

/* Fills in file->ruby and its version. Without an interpreter they stay as they are. */
void ruby_file_find(Elf *elf, struct unwind_file *file);
