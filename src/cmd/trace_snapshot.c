/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/trace_snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "rows/event_line.h"
#include "events.h"
#include "options/settings.h"
#include "outside/event_names.h"
#include "outside/programs.h"
#include "outside/snapshot.h"
#include "session/event_kinds.h"
#include "view/output.h"

enum { EVENT_BYTES_MAX = sizeof(struct ev_header) + 1024 };

static void put_time(struct text *out, const struct snapshot_entry *entry)
{
	text_printf(out, "%" PRIu64 ".%09" PRIu64 " %" PRIu32, entry->time_ns / 1000000000, entry->time_ns % 1000000000,
		    entry->tid);
}

static void put_bytes(struct text *out, const unsigned char *bytes, size_t count)
{
	size_t i;

	text_put(out, count ? " payload=" : "");
	for (i = 0; i < count; i++)
		text_printf(out, "%02x", bytes[i]);
}

/* What nothing describes, as numbers. */
static void put_raw(struct text *out, const struct snapshot_entry *entry, const unsigned char *payload)
{
	put_time(out, entry);
	text_put(out, " ");
	event_names_put(entry->program->names, entry->subsystem | (uint32_t)entry->event << 16, out);
	text_printf(out, " argument=%" PRIu32, entry->argument);
	put_bytes(out, payload, entry->payload_bytes);
	text_put(out, "\n");
}

static void put_event(struct text *out, const struct snapshot_entry *entry, const unsigned char *payload)
{
	uint64_t bytes[EVENT_BYTES_MAX / sizeof(uint64_t)];
	struct ev_header header = { .time_ns = entry->time_ns, .thread = entry->tid };
	struct event_line line = {
		.header = (const struct ev_header *)bytes,
		.size_bytes = sizeof(header) + entry->payload_bytes,
		.argument = &entry->argument,
		.cpu = -1,
	};

	line.kind = event_names_kind(entry->program->names, entry->subsystem, entry->event, line.size_bytes);
	/* Of what has more than its fields, all is to be seen. */
	if (!line.kind || (!line.kind->is_flexible && line.kind->size_bytes != line.size_bytes)) {
		put_raw(out, entry, payload);
		return;
	}
	memcpy(bytes, &header, sizeof(header));
	memcpy((char *)bytes + sizeof(header), payload, entry->payload_bytes);
	event_line_put(out, &line);
}

static void put_gap(struct text *out, const struct snapshot_entry *entry)
{
	text_put(out, "# ");
	put_time(out, entry);
	text_printf(out, ": %" PRIu64 " slots before this were overwritten\n", entry->lost);
}

static int take(struct snapshot *snapshot, const struct outside_programs *programs)
{
	int err = 0;
	size_t i;

	for (i = 0; i < programs->count && !err; i++) {
		err = snapshot_add(snapshot, &programs->list[i]);
		if (err)
			fail(err, "cannot read %s", programs->list[i].path);
	}
	snapshot_sort(snapshot);
	if (snapshot->left_out)
		warn("%" PRIu64 " events are left out: there are too many", snapshot->left_out);
	if (snapshot->has_unknown_speed)
		warn("the speed of a time stamp counter is unknown: times are its counts");
	return err;
}

int trace_snapshot(const struct settings *settings, const struct outside_programs *programs)
{
	struct snapshot snapshot = { 0 };
	struct text out = { 0 };
	int err = take(&snapshot, programs);
	size_t i;

	text_put(&out, "");
	for (i = 0; i < snapshot.count && !err; i++) {
		const struct snapshot_entry *entry = &snapshot.entries[i];

		if (entry->lost)
			put_gap(&out, entry);
		else
			put_event(&out, entry, snapshot.payloads + entry->payload);
	}
	if (!err)
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	text_fini(&out);
	snapshot_fini(&snapshot);
	return err;
}
