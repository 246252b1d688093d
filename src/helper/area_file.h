/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Areas of programs' own events (lib/pinchtrace_format.h), by the processes that have them mapped. */
#pragma once

#include <stdint.h>

/*
 * A descriptor to read the area of that number, from 0 on, in the order of addresses; each file counts once. -ENOENT: the process
 * has no more; -ESRCH: it has ended; -EXDEV: the file lies where reading it could take for ever; or the errno of opening it.
 */
int area_file_open(uint32_t pid, uint32_t number);
