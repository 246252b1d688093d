// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where tasks of traced threads begin and end: at system calls, and at functions. Each of the two is loaded
 * and attached only when a span is of it.
 */
#include "call.bpf.h"
#include "emit.bpf.h"
#include "file.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

enum { SIDE_BEGIN, SIDE_END };

#define ANY_DESCRIPTOR (~0u)

_Static_assert(sizeof(struct ev_span_begin) == sizeof(struct ev_span_end), "filled in alike");

static __always_inline void span_emit(enum event_id id, struct task_struct *current, __u32 thread, __u32 span,
				      __u64 value, __u32 flags)
{
	struct ev_span_end *e = event_reserve(id, thread, sizeof(*e));

	if (!e)
		return;
	e->value = value;
	e->span = span;
	e->flags = flags;
	e->faults = current->min_flt + current->maj_flt;
	e->transfers = e->read_bytes = e->written_bytes = 0;
	if (bpf_core_field_exists(current->ioac.rchar)) {
		e->transfers = current->ioac.syscr + current->ioac.syscw;
		e->read_bytes = current->ioac.rchar;
		e->written_bytes = current->ioac.wchar;
	}
	event_submit(e);
}

/* --- System calls ------------------------------------------------------------------------------ */

/* What is behind a descriptor of the current thread, as in st_mode >> 12. 0: nothing. */
static __always_inline __u32 descriptor_kind(__u32 descriptor)
{
	struct inode *inode;
	__u64 file;

	file = file_find_here(descriptor);
	if (file <= FILE_NONE)
		return 0;
	inode = BPF_CORE_READ((struct file *)file, f_inode);
	return BPF_CORE_READ(inode, i_mode) >> 12;
}

/* One span that the call begins or ends, if its conditions hold. The verifier examines it once. */
__noinline int span_call(__u32 span, __u32 side, __u32 argument, __u64 result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	const volatile struct span_rule *rule = &span_rules[(2 * span + side) & (2 * SPANS_MAX - 1)];
	struct thread_state *thread = thread_of(current);
	__u32 descriptor = rule->makes_fd ? (__u32)result : argument;
	__u64 value = rule->is_by_fd ? descriptor : 0;

	if (!thread || (side == SIDE_BEGIN && (__s64)result < rule->least))
		return 0;
	if (rule->fd != ANY_DESCRIPTOR && rule->fd != descriptor)
		return 0;
	if (rule->file_kind && descriptor_kind(descriptor) != rule->file_kind)
		return 0;
	span_emit(side == SIDE_BEGIN ? EV_SPAN_BEGIN : EV_SPAN_END, current, thread->thread, span, value, 0);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(span_call_begin, struct pt_regs *regs, long result)
{
	__u32 number = regs->orig_ax;
	__u32 spans = span_calls[number & (SYSCALLS_MAX - 1)].begins;

	if (!spans || is_foreign(regs))
		return 0;
	for (__u32 span = 0; span < SPANS_MAX; span++)
		if (spans >> span & 1)
			span_call(span, SIDE_BEGIN, regs->di, result);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(span_call_end, struct pt_regs *regs, long number)
{
	__u32 spans = span_calls[number & (SYSCALLS_MAX - 1)].ends;

	if (!spans || is_foreign(regs))
		return 0;
	for (__u32 span = 0; span < SPANS_MAX; span++)
		if (spans >> span & 1)
			span_call(span, SIDE_END, regs->di, 0);
	return 0;
}

/* --- Functions --------------------------------------------------------------------------------- */

SEC("uprobe")
int span_function_begin(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(current);

	if (thread)
		span_emit(EV_SPAN_BEGIN, current, thread->thread, bpf_get_attach_cookie(ctx), ctx->sp, 0);
	return 0;
}

/*
 * At each instruction that ends it: a probe of its return would put an address of the kernel's onto the
 * stack, through which no exception passes.
 */
SEC("uprobe")
int span_function_end(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(current);
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (thread)
		span_emit(EV_SPAN_END, current, thread->thread, cookie, ctx->sp,
			  cookie & SPAN_PROBE_JUMPS ? SPAN_JUMPS : 0);
	return 0;
}
