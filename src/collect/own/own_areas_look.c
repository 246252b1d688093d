/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes have areas. */
#include "collect/own/own_areas_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "area/area.h"
#include "base/memory.h"
#include "base/table.h"
#include "collect/own/own_offers.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "symbol/symbol.h"

enum {
	AREAS_MAX = 4096,
	AREAS_OF_PROCESS_MAX = 16,
	LOOKS_MAX = 65536,
	LOOKS_AT_ONCE = 16, /* of processes that lived already; each takes some 50 us */
};

/* How long a ring takes to be full, of a program of which nothing is known yet. */
static const double FULL_NS_FIRST = 4e6;

/* A process to look at. */
struct look {
	uint32_t pid;
	uint32_t ns_pid; /* 0: whatever it has is its own */
	bool is_older;   /* it lived already: only what comes after the stream's last event counts */
};

static void expect(struct own_areas *areas, const struct look *look)
{
	if (areas->look_count == LOOKS_MAX) {
		areas->unread_processes++;
		return;
	}
	ARRAY_GROW(areas->looks, areas->look_count, areas->look_capacity, 16);
	areas->looks[areas->look_count++] = *look;
}

void own_areas_announced(struct own_areas *areas, uint32_t pid)
{
	expect(areas, &(struct look){ .pid = pid });
}

/* Listed again after losses: what is known is not opened again. */
static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;

	if (thread_is_traced(header->thread) && e->tid == e->pid)
		expect(data, &(struct look){ .pid = e->pid, .ns_pid = e->ns_pid, .is_older = true });
}

static void end(struct own_areas *areas, uint32_t pid)
{
	for (size_t i = 0; i < areas->count; i++)
		if (areas->list[i].pid == pid)
			areas->list[i].is_ended = true;
}

static void on_exit_of(void *data, const struct ev_header *header)
{
	end(data, ((const struct ev_space_exit *)header)->pid);
}

static void hand_out_program(struct own_areas *areas, const struct own_area *own)
{
	const struct area_facts *facts = area_facts(own->area);
	struct ev_user_program e = {
		.header = {
			.time_ns = session_time_ns(areas->session),
			.subsys = TRACE_SUBSYS_USER,
			.event = TRACE_EVENT_USER_PROGRAM,
		},
		.pid = own->pid,
		.ring_capacity = facts->ring_capacity,
	};

	_Static_assert(sizeof(e.program) == sizeof(facts->program), "copied as it is");
	memcpy(e.program, facts->program, sizeof(e.program));
	session_hand_out(areas->session, &e.header);
}

/* In the stream's order: behind the start of this program, with which the name of the one before goes. */
static void on_announced(void *data, const struct ev_header *header)
{
	const struct ev_user_announced *e = (const struct ev_user_announced *)header;
	struct own_areas *areas = data;
	const struct own_area *last = NULL;

	for (size_t i = 0; i < areas->count; i++)
		if (areas->list[i].pid == e->pid && !areas->list[i].is_ended)
			last = &areas->list[i];
	if (last)
		hand_out_program(areas, last);
}

void own_areas_follow_processes(struct own_areas *areas)
{
	static const struct event_handler handlers[] = {
		{ EV_THREAD_FOUND, on_found },
		{ EV_SPACE_EXIT, on_exit_of },
		{ EV_USER_ANNOUNCED, on_announced },
		{ 0, NULL },
	};

	session_subscribe(areas->session, handlers, areas);
}

/* A forked child shows that of its parent. */
static bool is_known(const struct own_areas *areas, const struct area_facts *facts)
{
	for (size_t i = 0; i < areas->count; i++) {
		const struct area_facts *known = area_facts(areas->list[i].area);

		if (known->pid == facts->pid && known->start_ns == facts->start_ns)
			return true;
	}
	return false;
}

/* An area's time stamps at a moment of the stream. */
static uint64_t ticks_at(const struct own_areas *areas, const struct area_facts *facts, uint64_t time_ns)
{
	return facts->clock == PINCHTRACE_CLOCK_TSC ? tick_clock_ticks(&areas->clock, time_ns) : time_ns;
}

static void take_in(struct own_areas *areas, const struct look *look, struct area *area)
{
	const struct area_facts *facts = area_facts(area);

	bool is_others = is_known(areas, facts) || (look->ns_pid && look->ns_pid != facts->pid);

	if (is_others || areas->count == AREAS_MAX) {
		areas->unread_processes += !is_others;
		area_close(area);
		return;
	}
	if (look->is_older)
		area_skip(area, ticks_at(areas, facts, session_time_ns(areas->session)));
	ARRAY_GROW(areas->list, areas->count, areas->capacity, 16);
	areas->list[areas->count++] = (struct own_area){
		.area = area,
		.all = areas,
		.pid = look->pid,
		.rings = table_new(),
		.taken_ns = session_time_ns(areas->session),
	};
	areas->counter_programs += facts->clock == PINCHTRACE_CLOCK_TSC;
	if (areas->fill_rate < 1 / FULL_NS_FIRST)
		areas->fill_rate = 1 / FULL_NS_FIRST;
	if (look->is_older)
		hand_out_program(areas, &areas->list[areas->count - 1]);
}

static void look_into(struct own_areas *areas, const struct look *look, int fd)
{
	struct area *area;
	int err = area_open(fd, &area);

	if (err)
		close(fd);
	else
		take_in(areas, look, area);
	areas->broken_areas += err && !look->is_older;
}

static void look_at(struct own_areas *areas, const struct look *look)
{
	int fd = look->is_older ? -ENOENT : own_offers_take(areas->offers, look->pid);
	uint32_t found = 0;

	if (fd >= 0) {
		look_into(areas, look, fd);
		return;
	}
	while (found < AREAS_OF_PROCESS_MAX && (fd = symbols_open_area(areas->symbols, look->pid, found)) >= 0) {
		look_into(areas, look, fd);
		found++;
	}
	/* A program that takes the name that it has need have no area; one that has ended may have had one. */
	areas->unread_processes += !found && !look->is_older && fd != -ENOENT;
}

/* Others are announced meanwhile. */
void own_areas_look(struct own_areas *areas)
{
	struct look *looks = areas->looks;
	size_t count = areas->look_count, older = 0;

	areas->looks = NULL;
	areas->look_count = areas->look_capacity = 0;
	own_offers_step(areas->offers);
	for (size_t i = 0; i < count; i++)
		if (looks[i].is_older && older++ >= LOOKS_AT_ONCE)
			expect(areas, &looks[i]);
		else
			look_at(areas, &looks[i]);
	free(looks);
}
