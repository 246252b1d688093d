/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One script, what it says, and events for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "activity/activity.h"
#include "activity/named_event.h"
#include "activity/script_language.h"
#include "base/text.h"

struct script_stage {
	struct session *session;
	struct threads *threads;
	struct event_context *context;
	struct script_host host;
	void *state; /* NULL: it is not open */
	struct script_parts parts;
	struct text why; /* it has failed */
	struct text
		said; /* by print(), a line each; activities: "name begin end thread parameter=value"; and tables, up to 100 cells */
	size_t made_count;             /* activities */
	size_t table_count, row_count; /* row_count and what follows: of the last table */
	uint64_t rows_left_out, texts_cut;
};

/* A process "app" (500) with the thread "worker" (number 2, id 501) of it, on CPU 3. */
void script_stage_begin(struct script_stage *stage);
void script_stage_end(struct script_stage *stage);

/* 0, or -EINVAL with stage->why. */
int script_stage_open(struct script_stage *stage, const char *text);

/* A switch of thread 2 at that time, and an event of a program's own, of thread 2, "memserv.ALLOC" or so; valid until the next one. */
const struct named_event *script_stage_switch(struct script_stage *stage, uint64_t time_ns);
const struct named_event *script_stage_own(struct script_stage *stage, uint64_t time_ns, const char *subsystem,
					   const char *event, uint32_t argument);

/* Calls on_event(), filter(), on_activity() and finish(); 0, or -EINVAL with stage->why. */
int script_stage_event(struct script_stage *stage, const struct named_event *event);
int script_stage_filter(struct script_stage *stage, const struct named_event *event, bool *passes);
int script_stage_activity(struct script_stage *stage, const struct activity *activity);
int script_stage_finish(struct script_stage *stage);
