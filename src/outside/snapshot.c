/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "outside/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "area/area.h"
#include "area/ticks.h"
#include "base/memory.h"
#include "outside/programs.h"

/* Later than any event; a gap at the end of a ring has it in place of the event behind. */
#define END_TICKS ((uint64_t)INT64_MAX)

struct taking {
	struct snapshot *snapshot;
	const struct outside_program *program;
	struct area_ticks clock;
};

static struct snapshot_entry *add_entry(struct taking *taking, uint64_t ticks, uint32_t tid)
{
	struct snapshot *snapshot = taking->snapshot;
	struct snapshot_entry *entry;

	ARRAY_GROW(snapshot->entries, snapshot->count, snapshot->capacity, 1024);
	entry = &snapshot->entries[snapshot->count];
	*entry = (struct snapshot_entry){
		.time_ns = area_ticks_ns(&taking->clock, ticks),
		.order = snapshot->count++,
		.program = taking->program,
		.tid = tid,
	};
	return entry;
}

static void add_payload(struct snapshot *snapshot, const struct area_event *event)
{
	while (snapshot->payload_capacity - snapshot->payload_bytes < event->payload_bytes) {
		snapshot->payload_capacity = 2 * snapshot->payload_capacity + 65536;
		snapshot->payloads = xrealloc(snapshot->payloads, snapshot->payload_capacity, 1);
	}
	if (event->payload_bytes)
		memcpy(snapshot->payloads + snapshot->payload_bytes, event->payload, event->payload_bytes);
	snapshot->payload_bytes += event->payload_bytes;
}

static void on_event(void *data, const struct area_event *event)
{
	struct taking *taking = data;
	struct snapshot *snapshot = taking->snapshot;
	struct snapshot_entry *entry;

	if (snapshot->count >= SNAPSHOT_ENTRIES_MAX || snapshot->payload_bytes >= SNAPSHOT_PAYLOAD_MAX) {
		snapshot->left_out++;
		return;
	}
	entry = add_entry(taking, event->ticks, event->tid);
	entry->subsystem = event->subsystem;
	entry->event = event->event;
	entry->argument = event->argument;
	entry->payload = snapshot->payload_bytes;
	entry->payload_bytes = event->payload_bytes;
	add_payload(snapshot, event);
}

static void on_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	struct taking *taking = data;

	if (taking->snapshot->count < SNAPSHOT_ENTRIES_MAX)
		add_entry(taking, before_ticks < END_TICKS ? before_ticks : from_ticks, tid)->lost = slots;
}

int snapshot_add(struct snapshot *snapshot, const struct outside_program *program)
{
	struct taking taking = { snapshot, program, area_ticks_of(area_facts(program->area)) };
	struct area_listener listener = { on_event, on_lost, &taking };
	uint64_t until_ticks;
	int err;

	snapshot->has_unknown_speed |= !taking.clock.is_known;
	do {
		until_ticks = END_TICKS;
		err = area_take(program->area, &listener, &until_ticks);
	} while (!err && area_has_more(program->area) && snapshot->count < SNAPSHOT_ENTRIES_MAX);
	return err;
}

static int compare(const void *left, const void *right)
{
	const struct snapshot_entry *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void snapshot_sort(struct snapshot *snapshot)
{
	if (snapshot->count)
		qsort(snapshot->entries, snapshot->count, sizeof(*snapshot->entries), compare);
}

void snapshot_fini(struct snapshot *snapshot)
{
	free(snapshot->entries);
	free(snapshot->payloads);
	*snapshot = (struct snapshot){ 0 };
}
