// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sites of USDT probes that traced programs come to, as events of programs' own. Loaded and attached only when that is
 * asked for.
 */
#include "emit.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

/* Records are of one of these sizes: the verifier has to know it. */
enum { FEW_ARGUMENTS = 2, SOME_ARGUMENTS = 6 };

static __always_inline __u64 register_of(struct pt_regs *ctx, __u32 word)
{
	__u64 value = 0;

	if (word < USDT_REGISTERS)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + word * sizeof(value));
	return value;
}

/* What lies above its size goes, or becomes its sign. */
static __always_inline __u64 as_declared(const struct usdt_argument *argument, __u64 value)
{
	__u32 unused_bits = (64 - 8 * argument->size_bytes) & 63;

	value <<= unused_bits;
	return argument->is_signed ? (__u64)((__s64)value >> unused_bits) : value >> unused_bits;
}

static __always_inline __u64 memory_at(const struct usdt_argument *argument, __u64 address)
{
	__u32 size_bytes = argument->size_bytes;
	__u64 value = 0;

	barrier_var(size_bytes); /* or clang tests a copy of it */
	if (size_bytes <= sizeof(value))
		bpf_probe_read_user(&value, size_bytes, (void *)address);
	return value;
}

/* Widened to 64 bits; 0: it cannot be read. */
static __always_inline __u64 argument_of(struct pt_regs *ctx, const struct usdt_argument *argument)
{
	__u64 value = argument->number;

	if (argument->kind == USDT_REGISTER)
		value = register_of(ctx, argument->base) >> (argument->shift_bits & 63);
	else if (argument->kind == USDT_MEMORY)
		value = memory_at(argument, register_of(ctx, argument->base) +
						    (register_of(ctx, argument->index) << (argument->scale_shift & 3)) +
						    argument->number);
	return as_declared(argument, value);
}

static __always_inline void usdt_emit(struct pt_regs *ctx, const struct usdt_site *site, __u32 thread, __u32 space)
{
	__u32 payload_bytes = space * sizeof(__u64);
	struct ev_user_event *e = event_reserve(EV_USER_EVENT, thread, sizeof(*e) + payload_bytes);
	__u64 *payload;

	if (!e)
		return;
	payload = (__u64 *)(e + 1);
	for (__u32 i = 0; i < space; i++)
		payload[i] = i < site->argument_count ? argument_of(ctx, &site->arguments[i]) : 0;
	e->schema = site->schema;
	e->subsystem = e->event = 0;
	e->argument = payload[0];
	e->payload_bytes = payload_bytes;
	e->reserved = 0;
	event_submit(e);
}

SEC("uprobe")
int usdt_hit(struct pt_regs *ctx)
{
	struct thread_state *thread = thread_of(bpf_get_current_task_btf());
	__u32 number = bpf_get_attach_cookie(ctx);
	const struct usdt_site *site;

	if (!thread)
		return 0;
	site = bpf_map_lookup_elem(&usdt_sites, &number);
	if (!site)
		return 0;
	if (site->argument_count <= FEW_ARGUMENTS)
		usdt_emit(ctx, site, thread->thread, FEW_ARGUMENTS);
	else if (site->argument_count <= SOME_ARGUMENTS)
		usdt_emit(ctx, site, thread->thread, SOME_ARGUMENTS);
	else
		usdt_emit(ctx, site, thread->thread, USDT_ARGUMENTS_MAX);
	return 0;
}
