/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/json/json_fields.h"

#include "base/json.h"
#include "base/text.h"
#include "klocks/lengths.h"
#include "report/report.h"
#include "view/text/text_frames.h"

static void put_number_or_null(struct json *json, bool is_null, uint64_t number)
{
	if (is_null)
		json_null(json);
	else
		json_uint(json, number);
}

static void put_device(struct json *json, const struct report_device *device)
{
	json_begin_array(json);
	json_uint(json, device->major);
	json_uint(json, device->minor);
	json_end_array(json);
}

static void put_step(struct json *json, size_t step, uint32_t count)
{
	json_begin_array(json);
	json_uint(json, step ? length_limit_ns(step - 1) : 0);
	json_uint(json, count);
	json_end_array(json);
}

/* From the shortest wait to the longest one; a last step of no waits says where that before it ends. */
static void put_histogram(struct json *json, const uint32_t *lengths)
{
	size_t begin = 0, end = LENGTHS;

	while (begin < end && !lengths[begin])
		begin++;
	while (end > begin && !lengths[end - 1])
		end--;
	json_on_one_line(json);
	json_begin_array(json);
	for (size_t i = begin; i < end; i++)
		put_step(json, i, lengths[i]);
	if (end > begin)
		put_step(json, end, 0);
	json_end_array(json);
}

static void put_frame_name(struct json *json, const struct report_frame *frame)
{
	struct text name = { 0 };

	text_frame_name(&name, frame);
	json_string(json, name.bytes);
	text_fini(&name);
}

static void put_object(struct json *json, const struct report_type *type, const void *object);

static void put_value(struct json *json, const struct report_field *field, const void *value)
{
	switch (field->kind) {
	case REPORT_NS:
	case REPORT_COUNT:
	case REPORT_BYTES:
		json_uint(json, *(const uint64_t *)value);
		break;
	case REPORT_SIGNED_NS:
		json_int(json, *(const int64_t *)value);
		break;
	case REPORT_NUMBER:
	case REPORT_SHARE:
		json_double(json, *(const double *)value);
		break;
	case REPORT_ID:
	case REPORT_SMALL:
		json_uint(json, *(const uint32_t *)value);
		break;
	case REPORT_FROM_ONE:
		put_number_or_null(json, !*(const uint32_t *)value, *(const uint32_t *)value);
		break;
	case REPORT_INDEX:
		put_number_or_null(json, !*(const size_t *)value, *(const size_t *)value - 1);
		break;
	case REPORT_STATUS:
		put_number_or_null(json, *(const int *)value < 0, *(const int *)value);
		break;
	case REPORT_FLAG:
		json_bool(json, *(const bool *)value);
		break;
	case REPORT_TEXT:
	case REPORT_SENTENCE:
		json_string(json, *(const char *const *)value ? *(const char *const *)value : "");
		break;
	case REPORT_TEXT_OR_NULL:
		json_string(json, *(const char *const *)value);
		break;
	case REPORT_DEVICE:
		put_device(json, value);
		break;
	case REPORT_HISTOGRAM:
		put_histogram(json, *(const uint32_t *const *)value);
		break;
	case REPORT_ENUM:
	case REPORT_ENUM_OR_NULL:
		json_string(json, report_enum_name(field->of(), *(const unsigned int *)value));
		break;
	case REPORT_NAMES:
		put_frame_name(json, value);
		break;
	case REPORT_OBJECT:
		put_object(json, field->type(), value);
		break;
	case REPORT_OBJECT_OR_NULL:
		if (*(const void *const *)value)
			put_object(json, field->type(), *(const void *const *)value);
		else
			json_null(json);
		break;
	case REPORT_PART:
		json_put_members(json, field->type(), value);
		break;
	}
}

/* Objects and sentences have lines of their own. */
static bool is_on_one_line(const struct report_field *field)
{
	return field->kind != REPORT_OBJECT && field->kind != REPORT_SENTENCE;
}

static void put_list(struct json *json, const struct report_field *field, const char *object)
{
	const char *item = *(const char *const *)(object + field->at);
	size_t count = *(const size_t *)(object + field->count_at);

	if (is_on_one_line(field))
		json_on_one_line(json);
	(field->is_map ? json_begin_object : json_begin_array)(json);
	for (size_t i = 0; i < count; i++, item += field->size_bytes) {
		if (field->is_map)
			json_key(json, *(const char *const *)(item + field->key_at));
		put_value(json, field, item);
	}
	(field->is_map ? json_end_object : json_end_array)(json);
}

static void put_field(struct json *json, const struct report_field *field, const char *object)
{
	if (field->is_list)
		put_list(json, field, object);
	else
		put_value(json, field, object + field->at);
}

static void put_object(struct json *json, const struct report_type *type, const void *object)
{
	if (type->is_on_one_line)
		json_on_one_line(json);
	if (type->is_bare) {
		put_field(json, type->fields, object);
		return;
	}
	json_begin_object(json);
	json_put_members(json, type, object);
	json_end_object(json);
}

void json_put_members(struct json *json, const struct report_type *type, const void *object)
{
	for (const struct report_field *field = type->fields; field->name; field++) {
		if (field->is_optional && !*(const bool *)((const char *)object + field->flag_at))
			continue;
		if (field->kind != REPORT_PART)
			json_key(json, field->name);
		put_field(json, field, object);
	}
}

void json_put_document(struct text *out, const struct report_type *type, const void *object)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_members(&json, type, object);
	json_end_object(&json);
	json_fini(&json);
}
