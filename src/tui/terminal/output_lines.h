/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last lines that a command wrote, as bytes; what is too much is counted. Owns them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { OUTPUT_LINES_MAX = 10000, OUTPUT_LINE_BYTES_MAX = 4096, OUTPUT_BYTES_MAX = 16 << 20 };

struct output_lines;

struct output_lines *output_lines_new(void);
void output_lines_free(struct output_lines *output);

/* Takes in what was read; the end of it may be the middle of a line. */
void output_lines_add(struct output_lines *output, const char *bytes, size_t count);

/* Lines that are held, the one that has no end yet included. */
size_t output_lines_count(const struct output_lines *output);

/* The line, as a string; valid until more is added. number: how many came before it, ever. */
const char *output_lines_at(const struct output_lines *output, size_t i, uint64_t *number);

struct output_losses {
	uint64_t lines; /* whole ones, which were the oldest */
	uint64_t bytes; /* of lines that were too long */
};

struct output_losses output_lines_losses(const struct output_lines *output);
