/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON view, for programs: src/report/ says what is in it, and doc/report-schema.json to others. */
#include "base/json.h"

#include "report/report.h"
#include "view/json/json_fields.h"
#include "view/json/json_parts.h"
#include "view/view.h"

#ifndef PINCH_VERSION
#define PINCH_VERSION "0"
#endif

static void put_pinch(struct json *json)
{
	json_key(json, "pinch");
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "version", PINCH_VERSION);
	json_put_uint(json, "schema", REPORT_SCHEMA);
	json_end_object(json);
}

static void json_show(const struct report *report, const struct view_style *style, struct text *out)
{
	struct json json;

	(void)style;
	json_init(&json, out);
	json_begin_object(&json);
	put_pinch(&json);
	json_put_members(&json, report_type(), report);
	json_end_object(&json);
	json_fini(&json);
}

const struct view json_view = {
	.name = "json",
	.summary = "for programs: everything, as doc/report-schema.json describes",
	.show = json_show,
};
