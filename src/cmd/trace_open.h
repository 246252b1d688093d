/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

struct symbols;
struct trace_reader;

/* 0, or a negative errno after having said why the trace cannot be read. No output takes its place from here on. */
int trace_open(const char *path, struct trace_reader **out);

/*
 * Gives symbols what the trace has of names. Returns how many parts it has, and in *damaged_count, unless it
 * is NULL, how many of them are damaged.
 */
size_t trace_take_names(struct trace_reader *trace, struct symbols *symbols, size_t *damaged_count);
