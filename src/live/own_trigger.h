/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the recording of a program's own events when one of its threads has waited for long. */
#pragma once

struct own_areas;
struct own_trigger;
struct own_trigger_spec;
struct session;
struct text;
struct threads;

/* Borrows all but the spec. */
struct own_trigger *own_trigger_new(struct session *session, const struct threads *threads, struct own_areas *areas,
				    const struct own_trigger_spec *spec);
void own_trigger_free(struct own_trigger *trigger);

/* A sentence about what it did, with a NUL behind. */
void own_trigger_put_notes(const struct own_trigger *trigger, struct text *notes);
