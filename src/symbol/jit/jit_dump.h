/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit-PID.dump: the binary form in which JIT compilers describe their code
 * (linux/tools/perf/Documentation/jitdump-specification.txt). Such a program maps a page of the
 * file to execute, so that tracers learn its path.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool jit_dump_is(int fd);

/* Code that was loaded; its name ends with a NUL. */
struct jit_dump_code {
	uint64_t start, size_bytes;
	uint64_t name_at; /* place in the file */
};

/*
 * The next piece of code from the place *at on, 0 at first, which moves behind it. False when there
 * is none yet, or *records_left, which each record takes one of, is 0.
 */
bool jit_dump_next(int fd, uint64_t *at, uint64_t *records_left, struct jit_dump_code *code);
