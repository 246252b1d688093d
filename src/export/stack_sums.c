/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/stack_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/frames_key.h"
#include "report/report_frame.h"

enum { PATHS_MAX = 1 << 18, FRAMES_MAX = 1 << 18, PATH_FRAMES_MAX = 1 << 24, PARTS_MAX = 1 << 18 };

/* The numbers of the path and the frame that stand for those without space. */
enum { OTHERS = 0 };

const char *const sum_kind_names[SUM_KINDS] = {
	[SUM_CMETRIC] = "cmetric",
	[SUM_LOST] = "lost",
	[SUM_LOCK] = "lock",
	[SUM_CPU] = "cpu",
};

struct path {
	const char *cause;
	size_t first;
	uint32_t count;
	uint64_t ns[SUM_KINDS];
};

struct stack_sums {
	struct arena *arena;
	struct table *by_frame, *by_path, *by_part; /* numbers + 1, by hashes */
	struct sum_frame *frames;
	size_t frame_count, frame_capacity;
	struct path *paths;
	size_t path_count, path_capacity;
	uint32_t *numbers; /* frames of all paths */
	size_t number_count, number_capacity;
	struct text name;
};

static uint32_t add_frame(struct stack_sums *sums, uint64_t key, const struct sum_frame *frame)
{
	struct sum_frame *added;

	if (sums->frame_count == FRAMES_MAX)
		return OTHERS;
	ARRAY_GROW(sums->frames, sums->frame_count, sums->frame_capacity, 256);
	added = &sums->frames[sums->frame_count++];
	*added = *frame;
	added->name = arena_strdup(sums->arena, frame->name);
	added->file = frame->file ? arena_strdup(sums->arena, frame->file) : NULL;
	added->module = frame->module ? arena_strdup(sums->arena, frame->module) : NULL;
	table_put(sums->by_frame, key, (void *)(uintptr_t)sums->frame_count);
	return sums->frame_count - 1;
}

static uint32_t frame_of(struct stack_sums *sums, const struct sum_frame *frame)
{
	uint64_t key = hash_string(hash_u64(frame->line) ^ frame->offset, frame->name);
	uintptr_t number;

	key = hash_string(hash_string(key, frame->file ? frame->file : ""), frame->module ? frame->module : "");
	number = (uintptr_t)table_find(sums->by_frame, key);
	return number ? number - 1 : add_frame(sums, key, frame);
}

/* A frame that is no code's. */
static uint32_t word_of(struct stack_sums *sums, const char *name)
{
	return frame_of(sums, &(struct sum_frame){ .name = name });
}

static uint32_t code_of(struct stack_sums *sums, const struct report_frame *frame)
{
	sums->name.length = 0;
	if (frame->function) {
		text_put_escaped(&sums->name, frame->function);
	} else {
		text_put_escaped(&sums->name, frame->module ? frame->module : "[unknown]");
		text_printf(&sums->name, "+0x%llx", (unsigned long long)frame->offset);
	}
	return frame_of(sums, &(struct sum_frame){
				      .name = sums->name.bytes,
				      .file = frame->file,
				      .line = frame->line,
				      .module = frame->file_module ? frame->file_module : frame->module,
				      .offset = frame->function ? 0 : frame->offset,
			      });
}

static void push(struct stack_sums *sums, uint32_t frame)
{
	ARRAY_GROW(sums->numbers, sums->number_count, sums->number_capacity, 1024);
	sums->numbers[sums->number_count++] = frame;
}

struct stack_sums *stack_sums_new(void)
{
	struct stack_sums *sums = xcalloc(1, sizeof(*sums));

	sums->arena = arena_new();
	sums->by_frame = table_new();
	sums->by_path = table_new();
	sums->by_part = table_new();
	push(sums, word_of(sums, "[others]"));
	ARRAY_GROW(sums->paths, sums->path_count, sums->path_capacity, 256);
	sums->paths[sums->path_count++] = (struct path){ .count = 1 };
	return sums;
}

void stack_sums_free(struct stack_sums *sums)
{
	if (!sums)
		return;
	arena_free(sums->arena);
	table_free(sums->by_frame);
	table_free(sums->by_path);
	table_free(sums->by_part);
	free(sums->frames);
	free(sums->paths);
	free(sums->numbers);
	text_fini(&sums->name);
	free(sums);
}

/* What the path ends with: of a wait, "[lock: cache.mutex_]". */
static void push_last(struct stack_sums *sums, const struct sum_part *part)
{
	struct text last = { 0 }, escaped = { 0 };

	if (part->cause)
		text_printf(&last, part->object ? "[%s: %s]" : "[%s]", part->cause, part->object);
	else if (part->object)
		text_put(&last, part->object);
	if (last.length) {
		text_put_escaped(&escaped, last.bytes);
		push(sums, word_of(sums, escaped.bytes));
	}
	text_fini(&last);
	text_fini(&escaped);
}

/* The frames of a path, behind all others. */
static void push_path(struct stack_sums *sums, const struct sum_part *part)
{
	struct text name = { 0 }, escaped = { 0 };

	text_put_without_numbers(&name, part->thread);
	text_put_escaped(&escaped, name.bytes && *name.bytes ? name.bytes : "[nameless]");
	push(sums, word_of(sums, escaped.bytes));
	for (size_t i = part->frame_count; i-- > 0;)
		push(sums, code_of(sums, &part->frames[i]));
	push_last(sums, part);
	text_fini(&name);
	text_fini(&escaped);
}

static uint32_t find_path(struct stack_sums *sums, const struct sum_part *part)
{
	size_t first = sums->number_count;
	uint64_t key = hash_string(1, part->cause ? part->cause : "");
	uintptr_t number;

	push_path(sums, part);
	for (size_t i = first; i < sums->number_count; i++)
		key = hash_u64(key ^ sums->numbers[i]) + i - first;
	number = (uintptr_t)table_find(sums->by_path, key);
	if (!number && sums->path_count < PATHS_MAX && sums->number_count < PATH_FRAMES_MAX) {
		ARRAY_GROW(sums->paths, sums->path_count, sums->path_capacity, 256);
		sums->paths[sums->path_count++] = (struct path){
			.cause = part->cause,
			.first = first,
			.count = sums->number_count - first,
		};
		table_put(sums->by_path, key, (void *)(uintptr_t)sums->path_count);
		return sums->path_count - 1;
	}
	sums->number_count = first;
	return number ? number - 1 : OTHERS;
}

uint32_t stack_sums_path(struct stack_sums *sums, const struct sum_part *part)
{
	uint64_t key = hash_u64((uintptr_t)part->thread);
	uintptr_t number;

	key = hash_u64(hash_u64(key ^ (uintptr_t)part->cause) ^ (uintptr_t)part->object);
	key = hash_u64(key ^ frames_key(part->frames, part->frame_count));
	number = (uintptr_t)table_find(sums->by_part, key);
	if (number)
		return number - 1;
	number = find_path(sums, part);
	if (table_count(sums->by_part) < PARTS_MAX)
		table_put(sums->by_part, key, (void *)(number + 1));
	return number;
}

void stack_sums_add(struct stack_sums *sums, uint32_t path, enum sum_kind kind, uint64_t ns)
{
	sums->paths[path].ns[kind] += ns;
}

size_t stack_sums_count(const struct stack_sums *sums)
{
	return sums->path_count;
}

struct sum_stack stack_sums_at(const struct stack_sums *sums, size_t path)
{
	const struct path *at = &sums->paths[path];
	struct sum_stack stack = { at->cause, sums->numbers + at->first, at->count, { 0 } };

	memcpy(stack.ns, at->ns, sizeof(stack.ns));
	return stack;
}

size_t stack_sums_frame_count(const struct stack_sums *sums)
{
	return sums->frame_count;
}

const struct sum_frame *stack_sums_frame(const struct stack_sums *sums, uint32_t frame)
{
	return &sums->frames[frame];
}

uint64_t stack_sums_left_out_ns(const struct stack_sums *sums)
{
	uint64_t ns = 0;

	for (unsigned int kind = 0; kind < SUM_KINDS; kind++)
		ns += sums->paths[OTHERS].ns[kind];
	return ns;
}
