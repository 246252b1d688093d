/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs of the report as JSON, by their description. */
#pragma once

#include "report/report_fields.h"

struct json;

/* The members of an object, which is open. */
void json_put_members(struct json *json, const struct report_type *type, const void *object);
