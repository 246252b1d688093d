/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the worker gives up before it reads anything. */
#pragma once

enum {
	WORKER_MEMORY_MB_MAX = 1 << 10,
	WORKER_ADDRESS_GB_MAX = 256, /* of files that are mapped: page tables take a 512th part of it */
};

/* Its memory, files and time are limited, whatever the question is. */
void worker_limit_resources(void);

/* No privileges, no file system, few system calls. 0 or a negative errno: it must not go on. */
int worker_confine(void);
