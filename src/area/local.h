/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a file can be opened without asking anybody but the kernel: no daemon, no other machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether the file system of that device, which process pid has mounted, or the kernel's own of memfds, is such a one. */
bool area_device_is_local(uint32_t pid, uint64_t device);

/* The same of a file system's type, as statfs(2) has it. */
bool area_file_system_is_local(uint64_t type);
