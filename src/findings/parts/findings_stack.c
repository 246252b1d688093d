/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_internal.h"

#include <string.h>

#include "base/pause.h"
#include "base/table.h"

enum { REQUESTS_MAX = 1 << 16 };

void findings_request(struct findings *findings, const struct symbol_request *request)
{
	if (findings->request_count == REQUESTS_MAX)
		findings_prepare(findings);
	ARRAY_GROW(findings->requests, findings->request_count, findings->request_capacity, 256);
	findings->requests[findings->request_count++] = *request;
}

void findings_request_stack(struct findings *findings, uint32_t pid, uint64_t time_ns,
			    const struct ev_stack_frames *stack)
{
	size_t user_count = path_names_usable_count(findings->names, pid, time_ns, stack);

	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);

		findings_request(findings, &(struct symbol_request){
						   .pid = pid,
						   .time_ns = time_ns,
						   .address = frame.address,
						   .is_return = frame.is_return,
						   .has_callee = path_names_has_callee(stack, i),
					   });
	}
}

void findings_prepare(struct findings *findings)
{
	symbols_prepare(findings->input.symbols, findings->requests, findings->request_count);
	findings->request_count = 0;
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
	user_count = path_names_usable_count(findings->names, pid, time_ns, stack);
	is_managed = has_managed_frames(stack, user_count);
	if (findings->input.tells_kernel_apart)
		for (size_t i = path_names_kernel_begin(findings->names, stack); i < stack->kernel_count; i++)
			key = mix(key, stack->frames[i]);
	for (size_t i = 0; i < user_count; i++) {
		struct stack_frame frame = stack_user_frame(stack, i);
		/* Callers' addresses follow their calls, perhaps beyond the end of the code. */
		uint64_t address = frame.address - frame.is_return, offset;
		uint32_t module;

		if (symbols_place(findings->input.symbols, pid, time_ns, address, i == 0, &module, &offset))
			key = mix(mix(key, pid), address);
		else if (!i || !is_managed || !symbols_is_interpreter(findings->input.symbols, module))
			key = mix(mix(key, module), offset);
	}
	return key;
}
