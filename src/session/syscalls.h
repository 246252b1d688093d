/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls of this machine's architecture: their names, and what the first argument says of
 * what a thread in them waits for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "values.h"

/* NULL when there is none of this number. */
const char *syscall_name(uint32_t number);

enum wait_argument syscall_argument(uint32_t number);

/* How event loops poll by it. */
enum poll_kind syscall_poll(uint32_t number);

/* Whether the object of a wait in this system call is a file. Of a wait in none (SYSCALL_NONE), its value says so (MEMORY_...). */
bool syscall_waits_for_file(uint16_t syscall, uint32_t value);
