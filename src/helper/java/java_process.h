/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that can be asked as HotSpot's own attach mechanism does: checked before anything is sent to it. */
#pragma once

#include "helper/java/attacher.h"
#include "helper/jit_place.h"

struct java_process {
	struct jit_place place;
	int process_fd;   /* a pidfd */
	int directory_fd; /* its /tmp */
};

/* JAVA_WRITTEN: it may be asked; or why not. */
enum java_result java_process_open(uint32_t pid, struct java_process *process);
void java_process_close(struct java_process *process);
