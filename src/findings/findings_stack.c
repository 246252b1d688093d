/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/findings_internal.h"

#include <string.h>

#include "base/pause.h"
#include "base/table.h"

enum { FRAMES_MAX = 512, REQUESTS_MAX = 1 << 16 };

static struct report_frame as_report_frame(const struct symbol_frame *frame)
{
	return (struct report_frame){
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		.module = frame->module,
		.offset = frame->offset,
		.is_inlined = frame->is_inlined,
		.is_kernel = frame->is_kernel,
	};
}

size_t findings_usable_count(struct findings *findings, uint32_t pid, uint64_t time_ns,
			     const struct ev_stack_frames *stack)
{
	uint32_t module;
	uint64_t offset;
	size_t i = 1;

	/* The first is where the thread was, whatever is known of that place. */
	for (; i < stack->user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);

		if (symbols_place(findings->input.symbols, pid, time_ns,
				  frame.address - frame.is_return, false, &module, &offset))
			break;
	}
	return i < stack->user_count ? i : stack->user_count;
}

void findings_request(struct findings *findings, const struct symbol_request *request)
{
	if (findings->request_count == REQUESTS_MAX)
		findings_prepare(findings);
	if (findings->request_count == findings->request_room) {
		findings->request_room = findings->request_room ? findings->request_room * 2 : 256;
		findings->requests = xrealloc(findings->requests, findings->request_room,
					      sizeof(*findings->requests));
	}
	findings->requests[findings->request_count++] = *request;
}

void findings_request_stack(struct findings *findings, uint32_t pid, uint64_t time_ns,
			    const struct ev_stack_frames *stack)
{
	size_t user_count = findings_usable_count(findings, pid, time_ns, stack);

	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);

		findings_request(findings, &(struct symbol_request){
			.pid = pid, .time_ns = time_ns,
			.address = frame.address, .is_return = frame.is_return,
		});
	}
}

void findings_prepare(struct findings *findings)
{
	symbols_prepare(findings->input.symbols, findings->requests, findings->request_count);
	findings->request_count = 0;
}

/* Of a tracer that looks at the stack from within a switch, and of the switch itself. */
static bool is_tracers(const char *function)
{
	static const char *const prefixes[] = {
		"bpf_get_stack", "bpf_prog_", "bpf_trace_run", "bpf_trampoline_", "__bpf_trace_",
		"__traceiter_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(function, "__schedule") || !strcmp(function, "schedule");
}

size_t findings_kernel_begin(struct findings *findings, const struct ev_stack_frames *stack)
{
	struct symbol_frame frame;
	size_t i;

	for (i = 0; i < stack->kernel_count; i++) {
		symbols_resolve_kernel(findings->input.symbols, stack->frames[i] - (i > 0), &frame);
		if (!frame.function || !is_tracers(frame.function))
			break;
	}
	return i;
}

static uint64_t mix(uint64_t key, uint64_t value)
{
	return hash_u64(key ^ hash_u64(value + 0x9e3779b97f4a7c15ull));
}

static bool has_managed_frames(const struct ev_stack_frames *stack, size_t user_count)
{
	for (size_t i = 0; i < user_count; i++)
		if (stack_user_frame(stack, i).address & STACK_FRAME_MANAGED)
			return true;
	return false;
}

/* How an interpreter comes from one of its functions to the next changes while it runs, and does not count. */
uint64_t findings_stack_key(struct findings *findings, uint32_t pid, uint64_t time_ns, uint64_t name)
{
	const struct ev_stack_frames *stack = stacks_find(findings->input.stacks, name);
	uint64_t key = 1;
	bool is_managed;
	size_t user_count;

	pause_take_if_due(findings->input.pause);
	if (!pid || !name || !stack)
		return mix(mix(2, pid), name);
	user_count = findings_usable_count(findings, pid, time_ns, stack);
	is_managed = has_managed_frames(stack, user_count);
	if (findings->input.tells_kernel_apart)
		for (size_t i = findings_kernel_begin(findings, stack); i < stack->kernel_count; i++)
			key = mix(key, stack->frames[i]);
	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);
		/* Callers' addresses follow their calls, perhaps beyond the end of the code. */
		uint64_t address = frame.address - frame.is_return, offset;
		uint32_t module;

		if (symbols_place(findings->input.symbols, pid, time_ns, address,
				  i == 0, &module, &offset))
			key = mix(mix(key, pid), address);
		else if (!i || !is_managed ||
			 !symbols_is_interpreter(findings->input.symbols, module))
			key = mix(mix(key, module), offset);
	}
	return key;
}

size_t findings_name_stack(struct findings *findings, uint32_t pid, uint64_t time_ns,
			   const struct ev_stack_frames *stack,
			   const struct report_frame **frames)
{
	struct report_frame named[FRAMES_MAX];
	struct symbol_frame inlined[SYMBOL_INLINE_MAX];
	size_t user_count = findings_usable_count(findings, pid, time_ns, stack);
	size_t count = 0;

	pause_take_if_due(findings->input.pause);
	for (size_t i = findings_kernel_begin(findings, stack);
	     i < stack->kernel_count && count < FRAMES_MAX; i++) {
		symbols_resolve_kernel(findings->input.symbols, stack->frames[i] - (i > 0), inlined);
		named[count++] = as_report_frame(inlined);
	}
	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);
		size_t n = symbols_resolve(findings->input.symbols, pid, time_ns, frame.address,
					   frame.is_return, inlined, SYMBOL_INLINE_MAX);

		for (size_t k = 0; k < n && count < FRAMES_MAX; k++) {
			named[count] = as_report_frame(&inlined[k]);
			named[count++].is_guessed = frame.is_guessed;
		}
	}
	*frames = memcpy(arena_alloc(findings->arena, count * sizeof(*named)), named,
			 count * sizeof(*named));
	return count;
}
