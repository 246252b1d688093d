/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/firefox_records.h"

#include "export/spill.h"

/* Times are differences from the record before; those that go back wrap around, here as when they are read. */

void firefox_put_sample(struct spill *spill, struct firefox_thread *thread, const struct firefox_sample *sample)
{
	struct text record = { 0 };

	text_put_varint(&record, sample->time_ns - thread->sample_ns);
	text_put_varint(&record, sample->stack);
	text_put_varint(&record, sample->cmetric_ns);
	text_put_varint(&record, sample->cpu_ns);
	spill_put(spill, thread->samples, &record);
	text_fini(&record);
	thread->sample_ns = sample->time_ns;
	thread->sample_count++;
}

bool firefox_next_sample(struct spill_reader *reader, struct firefox_sample *sample)
{
	if (!spill_has_more(reader))
		return false;
	sample->time_ns += spill_next_varint(reader);
	sample->stack = spill_next_varint(reader);
	sample->cmetric_ns = spill_next_varint(reader);
	sample->cpu_ns = spill_next_varint(reader);
	return true;
}

static void put_state(struct text *record, const struct firefox_marker *marker)
{
	text_put_varint(record, marker->object);
	text_put_varint(record, marker->ended_by);
	text_put_varint(record, marker->cpu);
	text_put_varint(record, marker->stack);
	text_put_varint(record, marker->cmetric_ns);
}

void firefox_put_marker(struct spill *spill, struct firefox_thread *thread, const struct firefox_marker *marker)
{
	struct text record = { 0 };

	text_put_varint(&record, marker->kind);
	text_put_varint(&record, marker->name);
	text_put_varint(&record, marker->category);
	text_put_varint(&record, marker->begin_ns - thread->marker_ns);
	text_put_varint(&record, marker->end_ns - marker->begin_ns);
	text_put_varint(&record, marker->wake);
	if (marker->kind == FIREFOX_STATE) {
		put_state(&record, marker);
	} else if (marker->kind == FIREFOX_WAKE) {
		text_put_varint(&record, marker->woken);
		text_put_varint(&record, marker->tid);
	} else {
		text_put_varint(&record, marker->fields.length);
		text_put_bytes(&record, marker->fields.bytes, marker->fields.length);
	}
	spill_put(spill, thread->markers, &record);
	text_fini(&record);
	thread->marker_ns = marker->begin_ns;
	thread->marker_count++;
}

static void next_state(struct spill_reader *reader, struct firefox_marker *marker)
{
	marker->object = spill_next_varint(reader);
	marker->ended_by = spill_next_varint(reader);
	marker->cpu = spill_next_varint(reader);
	marker->stack = spill_next_varint(reader);
	marker->cmetric_ns = spill_next_varint(reader);
}

static void next_fields(struct spill_reader *reader, struct text *fields)
{
	fields->length = 0;
	text_put(fields, "");
	for (uint64_t left = spill_next_varint(reader); left && spill_has_more(reader); left--) {
		char byte = spill_next_byte(reader);

		text_put_bytes(fields, &byte, 1);
	}
}

bool firefox_next_marker(struct spill_reader *reader, struct firefox_marker *marker)
{
	if (!spill_has_more(reader))
		return false;
	marker->kind = spill_next_varint(reader);
	marker->name = spill_next_varint(reader);
	marker->category = spill_next_varint(reader);
	marker->begin_ns += spill_next_varint(reader);
	marker->end_ns = marker->begin_ns + spill_next_varint(reader);
	marker->wake = spill_next_varint(reader);
	if (marker->kind == FIREFOX_STATE) {
		next_state(reader, marker);
	} else if (marker->kind == FIREFOX_WAKE) {
		marker->woken = spill_next_varint(reader);
		marker->tid = spill_next_varint(reader);
	} else {
		next_fields(reader, &marker->fields);
	}
	return true;
}
