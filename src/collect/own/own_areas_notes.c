/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is missing or doubtful of programs' own events. */
#include "collect/own/own_areas_internal.h"

#include "area/area.h"
#include "base/text.h"

void own_areas_put_notes(const struct own_areas *areas, struct text *notes)
{
	uint64_t lost_events = areas->lost_events;

	for (size_t i = 0; i < areas->count; i++)
		lost_events += area_facts(areas->list[i].area)->lost;
	if (areas->lost_slots) {
		text_printf(notes,
			    "%llu slots of programs' own events were overwritten before they were read: larger rings "
			    "(PINCHTRACE_EVENTS) keep more",
			    (unsigned long long)areas->lost_slots);
		text_put_bytes(notes, "", 1);
	}
	if (lost_events) {
		text_printf(notes, "programs had no space for %llu events of their own",
			    (unsigned long long)lost_events);
		text_put_bytes(notes, "", 1);
	}
	if (areas->refused) {
		text_printf(notes, "%llu events of programs' own were dropped: there were too many at once",
			    (unsigned long long)areas->refused);
		text_put_bytes(notes, "", 1);
	}
	if (areas->counter_programs && !tick_clock_is_trusted()) {
		text_printf(
			notes,
			"times of own events of %llu programs may be wrong: they are by the CPUs' counters, which the "
			"kernel does not trust; start them again, or with PINCHTRACE_CLOCK=monotonic",
			(unsigned long long)areas->counter_programs);
		text_put_bytes(notes, "", 1);
	}
	if (areas->broken_areas + areas->unread_processes) {
		text_printf(notes,
			    "events of their own of %llu processes are missing: their memory was unreadable, or they "
			    "ended too soon",
			    (unsigned long long)(areas->broken_areas + areas->unread_processes));
		text_put_bytes(notes, "", 1);
	}
}
