/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "whatif/step_replay.h"

/* From the end to the beginning. */
struct way {
	const struct lives *lives;
	const struct replay *replay;
	struct critical_path *path;
};

static void add(struct way *way, uint32_t life, enum graph_kind kind, uint32_t wait, uint64_t begin_ns, uint64_t end_ns)
{
	struct critical_path *path = way->path;
	struct path_part part = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.thread = way->lives->lives[life].thread,
		.kind = kind,
	};
	struct path_part *last = path->count ? &path->parts[path->count - 1] : NULL;

	if (begin_ns >= end_ns)
		return;
	if (wait != STEP_NONE)
		part.wait = way->lives->waits[wait].wait;
	if (last && last->thread == part.thread && last->kind == kind && kind == GRAPH_RUNNING) {
		last->begin_ns = begin_ns;
		return;
	}
	ARRAY_GROW(path->parts, path->count, path->capacity, 1024);
	path->parts[path->count++] = part;
}

static uint64_t begin_of(const struct way *way, size_t at)
{
	return at > way->lives->lives[way->lives->steps[at].life].first ? way->replay->ends_ns[at - 1] : 0;
}

/* A delay's end, of those that a critical path may have. */
static enum graph_kind end_kind(const struct step *step)
{
	/* It was ended by a thread that is none of those. */
	return step->end == GRAPH_THREAD ? GRAPH_UNKNOWN : step->end;
}

/*
 * Who is woken at a barrier came there later: the last step that one of them did before, which ended when this one
 * did; SIZE_MAX: none did.
 */
static size_t last_to_barrier(const struct way *way, size_t at, uint64_t begin_ns)
{
	const struct step *steps = way->lives->steps;
	uint64_t end_ns = way->replay->ends_ns[at];

	if (end_ns == begin_ns)
		return SIZE_MAX;
	for (size_t i = at; i < way->lives->lives[steps[at].life].end && steps[i].kind != STEP_WAIT; i++) {
		size_t wait = steps[i].other;

		if (steps[i].kind == STEP_WAKE && wait > way->lives->lives[steps[wait].life].first &&
		    way->replay->ends_ns[wait - 1] == end_ns)
			return wait - 1;
	}
	return SIZE_MAX;
}

/* Adds what the step was; returns the one before it, which may be another life's. */
static size_t step_back(struct way *way, size_t at)
{
	const struct step *step = &way->lives->steps[at];
	uint64_t begin_ns = begin_of(way, at), end_ns = way->replay->ends_ns[at], other_ns;
	uint64_t work_ns = way->replay->work_ns[at];
	size_t other;

	switch ((enum step_kind)step->kind) {
	case STEP_WORK:
		add(way, step->life, GRAPH_RUNNING, STEP_NONE, end_ns - work_ns, end_ns);
		add(way, step->life, GRAPH_CPU, STEP_NONE, begin_ns, end_ns - work_ns);
		break;
	case STEP_DELAY:
		add(way, step->life, end_kind(step), step->wait, begin_ns, end_ns);
		break;
	case STEP_QUEUE:
	case STEP_LATE:
	case STEP_SLOWED:
		add(way, step->life, GRAPH_CPU, STEP_NONE, begin_ns, end_ns);
		break;
	case STEP_WAIT:
		other_ns = way->replay->ends_ns[step->other];
		if (!way->replay->is_let_go[at] && other_ns > begin_ns) {
			add(way, step->life, GRAPH_CPU, STEP_NONE, other_ns, end_ns);
			return step->other;
		}
		add(way, step->life, GRAPH_UNKNOWN, step->wait, begin_ns, end_ns);
		break;
	case STEP_WAKE:
		other = last_to_barrier(way, at, begin_ns);
		if (other != SIZE_MAX)
			return other;
		add(way, step->life, GRAPH_UNKNOWN, STEP_NONE, begin_ns, end_ns);
		break;
	}
	return at > way->lives->lives[step->life].first ? at - 1 : SIZE_MAX;
}

static size_t last_step(const struct lives *lives, const struct replay *replay)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < lives->count; i++) {
		size_t end = lives->lives[i].end;

		if (lives->lives[i].is_awaited && end > lives->lives[i].first &&
		    (last == SIZE_MAX || replay->ends_ns[end - 1] > replay->ends_ns[last]))
			last = end - 1;
	}
	return last;
}

static void turn_round(struct critical_path *path)
{
	for (size_t i = 0, j = path->count; i + 1 < j; i++) {
		struct path_part part = path->parts[i];

		path->parts[i] = path->parts[--j];
		path->parts[j] = part;
	}
}

void replay_path(const struct lives *lives, const struct replay *replay, struct critical_path *out)
{
	struct way way = { .lives = lives, .replay = replay, .path = out };
	size_t at = last_step(lives, replay);

	*out = (struct critical_path){ 0 };
	/* It never comes to a step twice: those before it ended earlier, or stand before it. */
	for (size_t i = 0; at != SIZE_MAX && i < 2 * lives->step_count; i++)
		at = step_back(&way, at);
	turn_round(out);
}
