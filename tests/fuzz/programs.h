/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small programs as a fuzzer's input: the first byte picks one, the others are changes to it, three
 * bytes each: a place and what is there instead. With any other first byte, all is a program file
 * itself.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol_fixture.c"

enum { PROGRAM_BYTES_MAX = 65536 };

struct fuzz_program {
	const char *name;
	uint8_t bytes[PROGRAM_BYTES_MAX];
	size_t size_bytes;
};

/* Builds them when they are first needed: what is kept of earlier runs does without. */
static void programs_read(struct fuzz_program *programs, size_t count)
{
	static bool is_done;

	for (size_t i = 0; i < count && !is_done; i++) {
		int fd = open(input(programs[i].name), O_RDONLY);

		if (fd < 0)
			continue;
		programs[i].size_bytes = read(fd, programs[i].bytes, PROGRAM_BYTES_MAX);
		close(fd);
	}
	is_done = true;
}

/* The program that the fuzzer's bytes stand for, in a file without a name; sets its size. */
static int programs_open(struct fuzz_program *programs, size_t count, const uint8_t *bytes, size_t *size_bytes)
{
	static uint8_t program[PROGRAM_BYTES_MAX];
	size_t i = *size_bytes ? bytes[0] : count;
	int fd = memfd_create("program", MFD_CLOEXEC);

	if (i < count) {
		programs_read(programs, count);
		memcpy(program, programs[i].bytes, programs[i].size_bytes);
		for (size_t at = 1; at + 3 <= *size_bytes && programs[i].size_bytes; at += 3)
			program[(bytes[at] | bytes[at + 1] << 8) % programs[i].size_bytes] = bytes[at + 2];
		bytes = program;
		*size_bytes = programs[i].size_bytes;
	}
	if (fd < 0 || write(fd, bytes, *size_bytes) != (ssize_t)*size_bytes)
		abort();
	return fd;
}
