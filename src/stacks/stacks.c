/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "values.h"

enum {
	STACKS_MAX_DEFAULT = 65536,
	STACK_BYTES_MEAN_MAX = 2048, /* 254 frames: all deep ones fit only if some are not */
};

struct stacks {
	struct arena *arena;
	struct table *by_name;
	size_t stacks_max;
	size_t bytes_left;
	struct stacks_counts counts;
};

static size_t frames_size_bytes(const struct ev_stack_frames *e)
{
	return sizeof(*e) + sizeof(*e->frames) * ((size_t)e->kernel_count + e->user_count);
}

static void on_frames(void *data, const struct ev_header *header)
{
	const struct ev_stack_frames *e = (const struct ev_stack_frames *)header;
	size_t size_bytes = frames_size_bytes(e);
	struct stacks *stacks = data;

	if (table_find(stacks->by_name, e->stack)) {
		stacks->counts.resent++;
		return;
	}
	if (stacks->counts.kept >= stacks->stacks_max || size_bytes > stacks->bytes_left) {
		stacks->counts.dropped++;
		return;
	}
	stacks->counts.kept++;
	stacks->bytes_left -= size_bytes;
	table_put(stacks->by_name, e->stack, memcpy(arena_alloc(stacks->arena, size_bytes), e, size_bytes));
}

static const struct event_handler handlers[] = {
	{ EV_STACK_FRAMES, on_frames },
	{ 0, NULL },
};

struct stacks *stacks_new(struct session *session, size_t stacks_max)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->arena = arena_new();
	stacks->by_name = table_new();
	stacks->stacks_max = stacks_max ? stacks_max : STACKS_MAX_DEFAULT;
	stacks->bytes_left = stacks->stacks_max * STACK_BYTES_MEAN_MAX;
	session_subscribe(session, handlers, stacks);
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	table_free(stacks->by_name);
	arena_free(stacks->arena);
	free(stacks);
}

struct stack_frame stack_user_frame(const struct ev_stack_frames *stack, size_t i)
{
	uint64_t frame = stack->frames[stack->kernel_count + i];

	return (struct stack_frame){
		.address = frame & (STACK_FRAME_ADDRESS | STACK_FRAME_MANAGED),
		.is_return = i > 0 && !(frame & (STACK_FRAME_EXACT | STACK_FRAME_MANAGED)),
		.is_guessed = frame & STACK_FRAME_GUESSED,
	};
}

const struct ev_stack_frames *stacks_find(const struct stacks *stacks, uint64_t stack)
{
	return table_find(stacks->by_name, stack);
}

struct stacks_counts stacks_counts(const struct stacks *stacks)
{
	return stacks->counts;
}
