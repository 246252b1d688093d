/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html/fold_part.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report.h"
#include "report/report_fields.h"
#include "stacks/fold.h"

struct walk {
	struct json *json;
	const struct fold_rules *fold;
	struct table *seen; /* hashes of functions and modules */
};

static uint64_t hash_or_none(uint64_t seed, const char *string)
{
	return string ? hash_string(seed, string) : hash_u64(seed);
}

static const char *label_of(const struct walk *walk, const struct report_frame *frame)
{
	const char *label = fold_find_label(walk->fold, frame);

	if (label)
		return label;
	return !frame->is_kernel && fold_is_plumbing(walk->fold, frame) ? "-" : NULL;
}

static void put_frame(struct walk *walk, const struct report_frame *frame)
{
	uint64_t key = hash_or_none(hash_or_none(1, frame->function), frame->module);
	const char *label;

	if (table_find(walk->seen, key))
		return;
	table_put(walk->seen, key, walk);
	label = label_of(walk, frame);
	if (!label)
		return;
	json_on_one_line(walk->json);
	json_begin_array(walk->json);
	json_string(walk->json, frame->function);
	json_string(walk->json, frame->module);
	json_string(walk->json, label);
	json_end_array(walk->json);
}

static void walk_members(struct walk *walk, const struct report_type *type, const void *object);

/* value: as the lists of a field have it. */
static void walk_value(struct walk *walk, const struct report_field *field, const void *value)
{
	const struct report_type *type;

	if (field->kind == REPORT_NAMES)
		return put_frame(walk, value);
	if (field->kind == REPORT_OBJECT_OR_NULL)
		value = *(const void *const *)value;
	else if (field->kind != REPORT_OBJECT && field->kind != REPORT_PART)
		return;
	type = field->type();
	if (!value)
		return;
	if (type == report_frame_type())
		put_frame(walk, value);
	else
		walk_members(walk, type, value);
}

static void walk_members(struct walk *walk, const struct report_type *type, const void *object)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		const char *item = (const char *)object + field->at;
		size_t count = 1;

		if (field->is_list) {
			count = *(const size_t *)((const char *)object + field->count_at);
			item = *(const char *const *)item;
		}
		for (size_t i = 0; i < count; i++, item += field->size_bytes)
			walk_value(walk, field, item);
	}
}

void fold_part_put(struct text *out, const struct report *report, const struct fold_rules *fold)
{
	struct json json;
	struct walk walk = { .json = &json, .fold = fold, .seen = table_new() };

	json_init(&json, out);
	json_begin_array(&json);
	walk_members(&walk, report_type(), report);
	json_end_array(&json);
	json_fini(&json);
	table_free(walk.seen);
}
