/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "rows/event_row.h"
#include "rows/event_rows.h"

enum { TEXT_BYTES_MAX = 4 << 20, PUT_NS_MAX = 100000000 };

static void put_place(struct json *json, const struct event_row *row, const struct event_places *places)
{
	struct text place = { 0 };

	if (places && (row->stack || row->ip || row->kernel_ip))
		places->put(places->data, row, &place);
	if (place.length)
		json_key(json, "place"), json_string(json, place.bytes);
	text_fini(&place);
}

static void put_row(struct json *json, const struct event_row *row, const struct event_places *places)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_key(json, "row"), json_uint(json, row->row);
	json_key(json, "time_ns"), json_int(json, row->time_ns);
	json_key(json, "host"), json_string(json, row->host);
	json_key(json, "cpu");
	if (row->cpu < 0)
		json_null(json);
	else
		json_int(json, row->cpu);
	json_key(json, "process"), json_string(json, row->process);
	json_key(json, "thread"), json_uint(json, row->thread);
	json_key(json, "tid"), json_uint(json, row->tid);
	json_key(json, "name"), json_string(json, row->name);
	json_key(json, "event"), json_string(json, row->event);
	json_key(json, "text"), json_string(json, row->text);
	put_place(json, row, places);
	json_end_object(json);
}

static void put_rows(struct event_rows *rows, uint64_t row, size_t count_max, const struct event_places *places,
		     struct json *json)
{
	uint64_t begin_ns = clock_ns();
	const struct event_row *list;
	size_t count;

	while (count_max && json->out->length < TEXT_BYTES_MAX && clock_ns() - begin_ns < PUT_NS_MAX &&
	       (count = event_rows_get(rows, row, count_max, &list))) {
		for (size_t i = 0; i < count; i++)
			put_row(json, &list[i], places);
		row += count;
		count_max -= count;
	}
}

void event_rows_put_json(struct event_rows *rows, uint64_t row, size_t count_max, const struct event_places *places,
			 struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_key(&json, "first"), json_uint(&json, row);
	json_key(&json, "events");
	json_begin_array(&json);
	put_rows(rows, row, count_max, places, &json);
	json_end_array(&json);
	/* What was read may have told how many there are. */
	json_key(&json, "rows"), json_uint(&json, event_rows_count(rows));
	json_key(&json, "is_counted"), json_bool(&json, event_rows_is_counted(rows));
	json_end_object(&json);
	json_fini(&json);
}
