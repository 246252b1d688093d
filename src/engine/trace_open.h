/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct symbols;
struct text;
struct trace_reader;

/* 0, or a negative errno after having said why the trace cannot be read. No output takes its place from here on. */
int trace_open(const char *path, struct trace_reader **out);

/* The same of one that messages call by another name. */
int trace_open_as(const char *path, const char *name, struct trace_reader **out);

/*
 * Says which events were left out, or changed, because they have times that the trace cannot have or too many
 * threads, as a sentence without its full stop. Returns whether there were any.
 */
bool trace_put_left_out(const struct trace_reader *trace, struct text *out);

/*
 * Gives symbols what the trace has of names. Returns how many parts it has, and in *damaged_count, unless it
 * is NULL, how many of them are damaged.
 */
size_t trace_take_names(struct trace_reader *trace, struct symbols *symbols, size_t *damaged_count);
