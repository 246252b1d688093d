/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the worker; struct answer comes back. */
#pragma once

#include <stdint.h>

enum { WORKER_PATH_BYTES_MAX = 4096 };

struct question {
	uint32_t module;	/* number; the worker remembers its file */
	uint32_t pid;
	uint64_t file_offset;
	uint8_t wants_lines;
	uint8_t has_file;	/* the first question about it: a descriptor comes along */
	uint8_t is_vdso;
	uint8_t reserved[5];
	char path[];		/* with has_file: ends with a NUL */
};

/* Answers the questions that come over the socket until it closes. For a process of its own. */
_Noreturn void worker_serve(int socket);
