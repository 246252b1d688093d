/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/findings_internal.h"

#include <string.h>

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

size_t findings_name_stack(struct findings *findings, uint32_t pid, uint64_t time_ns,
			   const struct ev_stack_frames *stack,
			   const struct report_frame **frames)
{
	struct report_frame named[FRAMES_MAX];
	struct symbol_frame inlined[SYMBOL_INLINE_MAX];
	size_t user_count = findings_usable_count(findings, pid, time_ns, stack);
	size_t count = 0;

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
