// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel's own helper takes to follow a program's frame pointers, at one in 16 of its
 * context switches: about as many as pinch's governor leaves, so that caches are as cold.
 */
#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum { FRAMES_MAX = 127, ONE_IN = 16 };

struct frames {
	__u64 frames[FRAMES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frames);
} scratch SEC(".maps");

const volatile int target;          /* a process */
__u64 taken, frame_count, spent_ns; /* all CPUs add to them */

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	struct frames *scratch_here;
	__u64 begin_ns;
	__u32 zero = 0;
	long bytes;

	if (prev->tgid != target || bpf_get_prandom_u32() % ONE_IN)
		return 0;
	scratch_here = bpf_map_lookup_elem(&scratch, &zero);
	if (!scratch_here)
		return 0;
	begin_ns = bpf_ktime_get_ns();
	bytes = bpf_get_stack(ctx, scratch_here, sizeof(*scratch_here), BPF_F_USER_STACK);
	if (bytes <= 0)
		return 0;
	__sync_fetch_and_add(&spent_ns, bpf_ktime_get_ns() - begin_ns);
	__sync_fetch_and_add(&taken, 1);
	__sync_fetch_and_add(&frame_count, bytes / sizeof(__u64));
	return 0;
}

/* What measuring a program takes by itself. */
SEC("tp_btf/sched_switch")
int BPF_PROG(nothing)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
