/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of an object, in one call.
 *
 * Owns: the report as JSON.
 * Used by: view/html, view/graph, view/trace, lanes, outside, serve.
 */
#pragma once

#include <stdint.h>

struct json;

void json_put_uint(struct json *json, const char *key, uint64_t value);
void json_put_string(struct json *json, const char *key, const char *value); /* NULL: null */
