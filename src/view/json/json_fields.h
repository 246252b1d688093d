/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs of the report, and of results, as JSON, by their description. */
#pragma once

#include "report/report_fields.h"

struct json;
struct text;

/* The members of an object, which is open. */
void json_put_members(struct json *json, const struct report_type *type, const void *object);

/* The object as a text of its own. */
void json_put_document(struct text *out, const struct report_type *type, const void *object);
