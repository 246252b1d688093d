/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the JSON view share: members of an object.
 *
 * Owns: the report as JSON.
 * Used by: view/html.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values.h"

struct json;
struct report;
struct report_frame;

void json_put_uint(struct json *json, const char *key, uint64_t value);
void json_put_double(struct json *json, const char *key, double value);
void json_put_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_line_number(struct json *json, uint32_t line); /* 0: null */

/* "stack": what the frames are called, innermost first. */
void json_put_stack(struct json *json, const struct report_frame *frames, size_t count);
void json_put_stack_end(struct json *json, enum stack_end end);

/* json_waits.c: "balance", "waits", "locks", "files" and "sockets". */
void json_put_waits(struct json *json, const struct report *report);

/* json_klocks.c: "kernel_locks", and the members of that by themselves. */
void json_put_klock_members(struct json *json, const struct report *report);
void json_put_klocks(struct json *json, const struct report *report);
