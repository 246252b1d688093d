/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What own_areas.h keeps: own_areas.c takes events out of areas, own_areas_look.c finds areas, own_areas_stream.c says in the stream what was
 * taken, own_areas_control.c steers programs, own_areas_notes.c says what is missing.
 */
#pragma once

#include "collect/own/own_areas.h"
#include "collect/own/own_schemas.h"
#include "collect/own/tick_clock.h"

struct look;
struct own_ring;

struct own_area {
	struct area *area;
	struct own_areas *all;
	uint32_t pid;
	bool is_ended; /* nothing more is written */
	struct own_schema_list schemas;
	uint64_t taken_ns;     /* all events up to then have been pushed */
	struct table *rings;   /* struct own_ring, by tid */
	struct own_ring *ring; /* the last one that was asked for */
};

struct own_areas {
	struct session *session;
	struct own_merge *merge;
	struct symbols *symbols;
	const struct threads *threads;
	struct own_schemas *schemas;
	struct own_offers *offers;
	struct own_area *list;
	size_t count, capacity;
	struct look *looks;
	size_t look_count, look_capacity;
	struct tick_clock clock;
	uint64_t limit_ns;
	double fill;      /* of the fullest ring */
	double fill_rate; /* how much of it each ns */
	uint64_t taken_ns, due_ns;
	uint64_t refused; /* events for which the session had no space */
	uint64_t lost_events, lost_slots, unread_processes, broken_areas;
	uint64_t counter_programs; /* whose time stamps are the counter's */
	struct ev_user_read *read; /* with space for any payload */
};

/* What says whom to look at. */
void own_areas_follow_processes(struct own_areas *areas);

/* What was taken becomes events of threads, as it is delivered. */
void own_areas_follow_stream(struct own_areas *areas);

/* Looks at those who are to be looked at. The clock has just been read. */
void own_areas_look(struct own_areas *areas);
