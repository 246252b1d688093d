/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/json/json_parts.h"

#include "base/json.h"

void json_put_uint(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_uint(json, value);
}

void json_put_string(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}
