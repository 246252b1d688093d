/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/path_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pause.h"
#include "base/table.h"
#include "findings/names/runtime_locks.h"
#include "symbol/symbol.h"

enum { FRAMES_MAX = 512, CALLS_LOOKED_AT = 6 };

/* A stack that has its names: most are asked for again and again. */
struct named_stack {
	const struct ev_stack_frames *stack;
	uint64_t time_ns, ip, kernel_ip;
	uint32_t pid;
	size_t count;
	const struct report_frame *frames;
	struct named_stack *next; /* with the same hash */
};

struct path_names {
	struct symbols *symbols;
	const struct stacks *stacks;
	struct pause *pause;
	struct wait_names *wait_names;
	struct arena *arena;
	struct report_frame *scratch; /* FRAMES_MAX of them, of the stack that is being named */
	struct arena *frames;         /* of stacks that were named */
	size_t frame_bytes;           /* in it */
	struct table *named;          /* struct named_stack by its hash */
	struct table *callees;        /* struct callee by the place of its call */
};

/* The function that a call instruction names. */
struct callee {
	const char *function; /* NULL: unknown, or it is no direct call */
};

struct path_names *path_names_new(struct symbols *symbols, const struct stacks *stacks, struct pause *pause)
{
	struct path_names *names = xcalloc(1, sizeof(*names));

	names->symbols = symbols;
	names->stacks = stacks;
	names->pause = pause;
	names->wait_names = wait_names_new();
	names->arena = arena_new();
	names->scratch = arena_alloc(names->arena, FRAMES_MAX * sizeof(*names->scratch));
	names->frames = arena_new();
	names->named = table_new();
	names->callees = table_new();
	return names;
}

void path_names_free(struct path_names *names)
{
	if (!names)
		return;
	wait_names_free(names->wait_names);
	table_free(names->named);
	table_free(names->callees);
	arena_free(names->arena);
	arena_free(names->frames);
	free(names);
}

bool path_names_drop(struct path_names *names, size_t bytes_max)
{
	if (names->frame_bytes <= bytes_max)
		return false;
	arena_free(names->frames);
	table_free(names->named);
	names->frames = arena_new();
	names->frame_bytes = 0;
	names->named = table_new();
	return true;
}

static void *keep(struct path_names *names, const void *bytes, size_t count)
{
	names->frame_bytes += count;
	return memcpy(arena_alloc(names->frames, count), bytes, count);
}

static struct report_frame as_report_frame(const struct symbol_frame *frame)
{
	return (struct report_frame){
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		.module = frame->program ? frame->program : frame->module,
		.file_module = frame->program ? frame->module : NULL,
		.offset = frame->offset,
		.is_inlined = frame->is_inlined,
		.is_kernel = frame->is_kernel,
	};
}

size_t path_names_usable_count(const struct path_names *names, uint32_t pid, uint64_t time_ns,
			       const struct ev_stack_frames *stack)
{
	uint32_t module;
	uint64_t offset;
	size_t i = 1;

	/* The first is where the thread was, whatever is known about that place. */
	for (; i < stack->user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);

		if (symbols_place(names->symbols, pid, time_ns, frame.address - frame.is_return, false, &module,
				  &offset))
			break;
	}
	return i < stack->user_count ? i : stack->user_count;
}

/* Of a tracer that examines the stack from within a switch, and of the switch itself. */
static bool is_tracers(const char *function)
{
	static const char *const prefixes[] = {
		"bpf_get_stack", "bpf_prog_", "bpf_trace_run", "bpf_trampoline_", "__bpf_trace_", "__traceiter_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(function, "__schedule") || !strcmp(function, "schedule");
}

size_t path_names_kernel_begin(const struct path_names *names, const struct ev_stack_frames *stack)
{
	struct symbol_frame frame;
	size_t i;

	for (i = 0; i < stack->kernel_count; i++) {
		symbols_resolve_kernel(names->symbols, stack->frames[i] - (i > 0), &frame);
		if (!frame.function || !is_tracers(frame.function))
			break;
	}
	return i;
}

bool path_names_has_callee(const struct ev_stack_frames *stack, size_t i)
{
	struct stack_frame outer = stack_user_frame(stack, i);

	return i && outer.is_return && !outer.is_guessed &&
	       !((stack_user_frame(stack, i - 1).address | outer.address) & STACK_FRAME_MANAGED);
}

/* Puts back the frames that are missing between two neighbouring frames; returns how many. */
static size_t name_missing(const struct path_names *names, uint32_t pid, uint64_t time_ns,
			   const struct symbol_call *call, struct report_frame *named, size_t max)
{
	struct symbol_frame frames[SYMBOL_TAIL_MAX];
	size_t count, n = symbols_between(names->symbols, pid, time_ns, call, frames, SYMBOL_TAIL_MAX);

	for (count = 0; count < n && count < max; count++) {
		named[count] = as_report_frame(&frames[count]);
		named[count].is_tail_call = true;
	}
	return count;
}

/* ip: where it runs, if the address of the first frame is 0. */
static struct stack_frame frame_at(const struct ev_stack_frames *stack, size_t i, uint64_t ip)
{
	return i || stack->frames[stack->kernel_count] ? stack_user_frame(stack, i)
						       : (struct stack_frame){ .address = ip };
}

static void name_frames(struct path_names *names, struct named_stack *of)
{
	struct report_frame *named = names->scratch;
	struct symbol_frame inlined[SYMBOL_INLINE_MAX];
	const struct ev_stack_frames *stack = of->stack;
	size_t user_count = path_names_usable_count(names, of->pid, of->time_ns, stack);
	size_t count = 0;

	pause_take_if_due(names->pause);
	for (size_t i = path_names_kernel_begin(names, stack); i < stack->kernel_count && count < FRAMES_MAX; i++) {
		uint64_t address = stack->frames[i] ? stack->frames[i] - (i > 0) : of->kernel_ip;

		symbols_resolve_kernel(names->symbols, address, inlined);
		named[count++] = as_report_frame(inlined);
	}
	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = frame_at(stack, i, of->ip);
		size_t n;

		if (path_names_has_callee(stack, i)) {
			struct stack_frame inner = frame_at(stack, i - 1, of->ip);
			struct symbol_call call = { inner.address, inner.is_return, frame.address };

			count += name_missing(names, of->pid, of->time_ns, &call, &named[count], FRAMES_MAX - count);
		}
		n = symbols_resolve(names->symbols, of->pid, of->time_ns, frame.address, frame.is_return, inlined,
				    SYMBOL_INLINE_MAX);
		for (size_t k = 0; k < n && count < FRAMES_MAX; k++) {
			named[count] = as_report_frame(&inlined[k]);
			named[count++].is_guessed = frame.is_guessed;
		}
	}
	of->count = count;
	of->frames = keep(names, named, count * sizeof(*named));
}

static uint64_t hash_of(const struct named_stack *of)
{
	return hash_u64((uintptr_t)of->stack ^
			hash_u64(of->time_ns ^ hash_u64(of->ip ^ hash_u64(of->kernel_ip ^ of->pid))));
}

static bool is_same(const struct named_stack *a, const struct named_stack *b)
{
	return a->stack == b->stack && a->time_ns == b->time_ns && a->ip == b->ip && a->kernel_ip == b->kernel_ip &&
	       a->pid == b->pid;
}

/* ip, kernel_ip: where it runs, if the address of the first frame is 0. */
static size_t name_stack(struct path_names *names, uint32_t pid, uint64_t time_ns, const struct ev_stack_frames *stack,
			 uint64_t ip, uint64_t kernel_ip, const struct report_frame **frames)
{
	struct named_stack of = { .stack = stack, .time_ns = time_ns, .ip = ip, .kernel_ip = kernel_ip, .pid = pid };
	uint64_t hash = hash_of(&of);
	struct named_stack *first = table_find(names->named, hash), *named = first;

	while (named && !is_same(named, &of))
		named = named->next;
	if (!named) {
		name_frames(names, &of);
		of.next = first;
		named = keep(names, &of, sizeof(of));
		table_put(names->named, hash, named);
	}
	*frames = named->frames;
	return named->count;
}

size_t path_names_frames(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack,
			 const struct report_frame **frames, enum stack_end *end)
{
	const struct ev_stack_frames *found = pid ? stacks_find(names->stacks, stack) : NULL;

	*frames = NULL;
	if (!found)
		return 0;
	if (end)
		*end = found->end < STACK_ENDS ? found->end : STACK_UNREADABLE;
	return name_stack(names, pid, time_ns, found, 0, 0, frames);
}

static size_t name_place(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t ip, uint64_t kernel_ip,
			 const struct report_frame **frames)
{
	struct report_frame named[1 + SYMBOL_INLINE_MAX];
	struct symbol_frame inlined[SYMBOL_INLINE_MAX];
	size_t count = 0, n = 0;

	if (kernel_ip) {
		symbols_resolve_kernel(names->symbols, kernel_ip, inlined);
		named[count++] = as_report_frame(inlined);
	}
	if (ip)
		n = symbols_resolve(names->symbols, pid, time_ns, ip, false, inlined, SYMBOL_INLINE_MAX);
	for (size_t k = 0; k < n; k++)
		named[count++] = as_report_frame(&inlined[k]);
	*frames = keep(names, named, count * sizeof(*named));
	return count;
}

size_t path_names_sample_frames(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack, uint64_t ip,
				uint64_t kernel_ip, const struct report_frame **frames, enum stack_end *end)
{
	const struct ev_stack_frames *found = pid && stack ? stacks_find(names->stacks, stack) : NULL;

	*end = STACK_UNREADABLE;
	if (!found)
		return name_place(names, pid, time_ns, ip, kernel_ip, frames);
	if (found->end < STACK_ENDS)
		*end = found->end;
	return name_stack(names, pid, time_ns, found, ip, kernel_ip, frames);
}

const char *path_names_hint(const struct path_names *names, uint32_t pid, const struct report_frame *frames,
			    size_t count, bool is_sampled)
{
	bool has_nameless = is_sampled;

	for (size_t i = 0; i < count; i++) {
		if (!frames[i].module ||
		    (strcmp(frames[i].module, "[jit]") != 0 && strcmp(frames[i].module, "[javascript]") != 0))
			continue;
		if (frames[i].function)
			return NULL;
		has_nameless = true;
	}
	return has_nameless ? symbols_names_hint(names->symbols, pid) : NULL;
}

/* The function that the call before this return address calls directly, or NULL. */
static const char *find_callee(const struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	enum { CALL_BYTES = 5, CALL = 0xe8, CODE_BYTES = 8192 };
	struct symbol_frame frame[SYMBOL_INLINE_MAX] = { 0 };
	uint8_t code[CODE_BYTES];
	uint64_t begin;
	int32_t distance;
	size_t bytes = symbols_read_code(names->symbols, pid, time_ns, address - 1, code, sizeof(code), &begin);

	if (address < begin + CALL_BYTES || address - begin > bytes || code[address - begin - CALL_BYTES] != CALL)
		return NULL;
	memcpy(&distance, &code[address - begin - sizeof(distance)], sizeof(distance));
	symbols_resolve(names->symbols, pid, time_ns, address + distance, false, frame, SYMBOL_INLINE_MAX);
	return frame->function;
}

/* The same. Few calls lead to all waits, and for each of them code is read. */
static const char *callee(const struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct callee *known;
	uint64_t offset, key;
	uint32_t module;

	if (symbols_place(names->symbols, pid, time_ns, address - 1, false, &module, &offset))
		return NULL;
	key = hash_u64(offset ^ hash_u64(module));
	known = table_find(names->callees, key);
	if (!known) {
		known = arena_alloc(names->arena, sizeof(*known));
		known->function = find_callee(names, pid, time_ns, address);
		table_put(names->callees, key, known);
	}
	return known->function;
}

/*
 * Without its debug information a library's own functions have no names, and the one that was called
 * may have gone on to another without leaving a frame. The call gives its name nevertheless.
 */
static struct wait_meaning called_meaning(const struct path_names *names, uint32_t pid, uint64_t time_ns,
					  const struct ev_stack_frames *stack, const struct wait_facts *facts,
					  enum wait_cause cause, struct wait_meaning meaning)
{
	for (size_t i = 0; i < stack->user_count && i < CALLS_LOOKED_AT && !meaning.is_named; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);
		struct report_frame called = { 0 };

		if (!frame.is_return || frame.address & STACK_FRAME_MANAGED)
			continue;
		called.function = callee(names, pid, time_ns, frame.address);
		if (called.function)
			meaning = wait_meaning_of(names->wait_names, facts, cause, &called, 1);
	}
	return meaning;
}

struct wait_meaning path_names_meaning_of(const struct path_names *names, const struct wait_facts *facts,
					  enum wait_cause cause, const struct report_frame *frames, size_t count)
{
	return wait_meaning_of(names->wait_names, facts, cause, frames, count);
}

struct wait_meaning path_names_meaning(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack,
				       const struct wait_facts *facts, enum wait_cause cause)
{
	const struct runtime_lock *lock = runtime_lock_of(names->symbols, pid, time_ns, facts);
	const struct report_frame *frames;
	struct wait_meaning meaning;
	size_t count;
	bool is_in_callback, is_for_result;

	if (lock)
		return (struct wait_meaning){ .cause = CAUSE_LOCK, .lock_kind = lock->kind, .is_named = true };
	count = path_names_frames(names, pid, time_ns, stack, &frames, NULL);
	meaning = wait_meaning_of(names->wait_names, facts, cause, frames, count);
	is_in_callback = meaning.is_in_callback;
	is_for_result = meaning.is_for_result;
	if (!meaning.is_named && count && wait_has_futex(facts))
		meaning = called_meaning(names, pid, time_ns, stacks_find(names->stacks, stack), facts, cause, meaning);
	meaning.is_in_callback = is_in_callback;
	meaning.is_for_result = is_for_result;
	return meaning;
}
