/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file holds a V8: node, or libnode. */
#pragma once

#include <gelf.h>

#include "unwind/table_file.h"

/* Fills in what file says of V8. Without one it stays as it is. */
void v8_file_find(Elf *elf, struct unwind_file *file);
