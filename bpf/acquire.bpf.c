// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Locks of the kernel that traced threads take and released, also while nobody else wants them: by probes of
 * the functions that do so (share/klock.json). Added up by lock, and recorded when the engine asks. Who waits for
 * a lock has it from the end of the wait on, which klock.bpf.c says.
 */
#include "acquire.bpf.h"
#include "context.bpf.h"
#include "emit.bpf.h"
#include "klock.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum { MAX_TRIES = 4 };

static __always_inline __u64 argument_of(const struct pt_regs *regs, __u32 number)
{
	__u64 arguments[KLOCK_ARGUMENTS_MAX] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };

	barrier_var(number);
	return number < KLOCK_ARGUMENTS_MAX ? arguments[number] : 0;
}

static __always_inline __u64 caller_of(const struct pt_regs *regs)
{
	__u64 caller = 0;

	bpf_probe_read_kernel(&caller, sizeof(caller), (void *)regs->sp);
	return caller;
}

/* --- Sums -------------------------------------------------------------------------------------- */

static __always_inline struct klock_held *held_get(__u64 lock, __u64 kind, const struct pt_regs *regs)
{
	struct klock_held_key key = { lock, kind };
	struct klock_held first = {}, *held = bpf_map_lookup_elem(&klocks_held, &key);

	if (held)
		return held;
	first.caller = caller_of(regs);
	bpf_map_update_elem(&klocks_held, &key, &first, BPF_NOEXIST);
	held = bpf_map_lookup_elem(&klocks_held, &key);
	if (!held)
		__sync_fetch_and_add(&holds_lost, 1);
	return held;
}

/* Readers of a lock released it at the same time. */
static __always_inline void max_note(__u64 *max, __u64 value)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		__u64 before = *(volatile __u64 *)max;

		if (value <= before || __sync_val_compare_and_swap(max, before, value) == before)
			return;
	}
}

static __always_inline __u64 without(__u64 ns, __u64 cost_ns)
{
	return ns > cost_ns ? ns - cost_ns : 0;
}

/* --- Who has what ------------------------------------------------------------------------------ */

/* Where there is space for one more, or the one that it has had for longest: somebody else releases that. */
static __always_inline struct klock_hold *hold_get(struct thread_state *thread, __u64 address)
{
	struct klock_hold *hold = hold_find(thread, address);

	if (!hold)
		hold = hold_find(thread, 0);
	if (hold)
		return hold;
	hold = &thread->klock_holds[0];
	for (int i = 1; i < KLOCK_HOLDS_AT_ONCE; i++)
		if (thread->klock_holds[i].since_ns < hold->since_ns)
			hold = &thread->klock_holds[i];
	return hold;
}

static __always_inline void hold_begin(struct thread_state *thread, const struct pt_regs *regs, __u64 address,
				       __u64 kind)
{
	__u64 lock = klock_name(address, kind, WAKE_THREAD);
	struct klock_hold *hold = hold_get(thread, address);
	struct klock_held *held = held_get(lock, kind, regs);

	if (held)
		__sync_fetch_and_add(&held->taken, 1);
	hold->address = address;
	hold->lock = lock;
	hold->kind = kind;
	hold->since_ns = bpf_ktime_get_ns();
}

static __always_inline void hold_end(struct thread_state *thread, __u64 address, __u64 now_ns)
{
	struct klock_hold *hold = hold_find(thread, address);
	struct klock_held *held;
	__u64 hold_ns;

	if (!hold)
		return;
	hold->address = 0;
	held = held_find(hold->lock, hold->kind);
	if (!held)
		return;
	hold_ns = without(now_ns - hold->since_ns, own_hold.shortest_hold_ns);
	__sync_fetch_and_add(&held->holds, 1);
	__sync_fetch_and_add(&held->hold_ns, hold_ns);
	max_note(&held->max_hold_ns, hold_ns);
}

/* Of a function that tries, the attempt counts until it returns. */
static __always_inline void on_call(struct thread_state *thread, const struct pt_regs *regs, __u64 cookie,
				    __u64 address, __u64 now_ns)
{
	__u64 step = KLOCK_PROBE_STEP(cookie), kind = KLOCK_PROBE_KIND(cookie);

	if (step == KLOCK_LETS_GO || step == KLOCK_CHANGES)
		hold_end(thread, address, now_ns);
	if (step == KLOCK_LETS_GO)
		return;
	hold_begin(thread, regs, address, kind);
	if (step == KLOCK_CHANGES)
		return;
	thread->klock_taken = address;
	thread->klock_take_ns = bpf_ktime_get_ns();
}

static __always_inline void on_return(struct thread_state *thread, __u64 cookie, __u32 result, __u64 now_ns)
{
	struct klock_hold *hold = thread->klock_taken ? hold_find(thread, thread->klock_taken) : NULL;
	__u64 step = KLOCK_PROBE_STEP(cookie);
	struct klock_held *held;

	thread->klock_taken = 0;
	if (!hold)
		return;
	if ((step == KLOCK_TRIES && !result) || (step == KLOCK_TRIES_FOR_ZERO && result)) {
		hold_give_up(hold);
		return;
	}
	held = held_find(hold->lock, hold->kind);
	if (held)
		__sync_fetch_and_add(&held->take_ns,
				     without(now_ns - thread->klock_take_ns, own_hold.shortest_take_ns));
	hold->since_ns = bpf_ktime_get_ns();
}

/* --- What it takes ----------------------------------------------------------------------------- */

static __always_inline void shortest_note(__u64 *shortest_ns, __u64 ns)
{
	if (!*shortest_ns || ns < *shortest_ns)
		*shortest_ns = ns;
}

/*
 * The engine itself takes locks that nobody else wants, and has them for a few instructions: what that takes is
 * what it takes to note it, which is mostly the kernel's way into these programs and out of them.
 */
static __always_inline void own_call(__u64 cookie, __u64 address, __u64 now_ns)
{
	if (KLOCK_PROBE_STEP(cookie) == KLOCK_LETS_GO) {
		if (own_hold.address == address)
			shortest_note(&own_hold.shortest_hold_ns, now_ns - own_hold.since_ns);
		own_hold.address = 0;
	} else {
		own_hold.address = address;
		own_hold.since_ns = bpf_ktime_get_ns();
	}
}

static __always_inline void own_return(__u64 now_ns)
{
	if (!own_hold.address)
		return;
	shortest_note(&own_hold.shortest_take_ns, now_ns - own_hold.since_ns);
	own_hold.since_ns = bpf_ktime_get_ns();
}

/* --- Probes ------------------------------------------------------------------------------------ */

/* The current thread does it itself, and not an interrupt in its place. NULL: neither is recorded. */
static __always_inline struct thread_state *thread_here(struct task_struct *current)
{
	struct thread_state *thread = thread_of(current);

	return thread && context_here(current) == WAKE_THREAD ? thread : NULL;
}

SEC("kprobe")
int acquire_call(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns(), cookie, address;
	struct thread_state *thread;

	if (counts_here()->is_remembering)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	address = argument_of(ctx, KLOCK_PROBE_ARGUMENT(cookie));
	if ((__u32)current->tgid == own_pid) {
		own_call(cookie, address, now_ns);
		return 0;
	}
	thread = thread_here(current);
	if (thread && address)
		on_call(thread, ctx, cookie, address, now_ns);
	return 0;
}

SEC("kretprobe")
int acquire_return(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns();
	struct thread_state *thread;

	if (counts_here()->is_remembering)
		return 0;
	if ((__u32)current->tgid == own_pid) {
		own_return(now_ns);
		return 0;
	}
	thread = thread_here(current);
	if (thread)
		on_return(thread, bpf_get_attach_cookie(ctx), ctx->ax, now_ns);
	return 0;
}

/* --- Telling ----------------------------------------------------------------------------------- */

static __always_inline bool ring_has_space(void)
{
	void *ring = ring_here();

	return ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
}

/*
 * Records for each lock what came since its last record. Those that there is no space for in the ring are counted:
 * they come the next time.
 */
SEC("iter/bpf_map_elem")
int list_holds(struct bpf_iter__bpf_map_elem *ctx)
{
	struct klock_held_key *key = ctx->key, own_key;
	struct klock_held *held;
	struct ev_klock_held *e;

	if (!key)
		return 0;
	own_key = *key;
	held = bpf_map_lookup_elem(&klocks_held, &own_key);
	if (!held || !(held->taken | held->holds))
		return 0;
	if (!ring_has_space()) {
		holds_left++;
		return 0;
	}
	e = event_reserve(EV_KLOCK_HELD, 0, sizeof(*e));
	if (!e)
		return 0;
	e->lock = own_key.lock;
	e->taken = __sync_lock_test_and_set(&held->taken, 0);
	e->take_ns = __sync_lock_test_and_set(&held->take_ns, 0);
	e->holds = __sync_lock_test_and_set(&held->holds, 0);
	e->hold_ns = __sync_lock_test_and_set(&held->hold_ns, 0);
	e->max_hold_ns = __sync_lock_test_and_set(&held->max_hold_ns, 0);
	e->caller = held->caller;
	e->take_cost_ns = own_hold.shortest_take_ns;
	e->hold_cost_ns = own_hold.shortest_hold_ns;
	__builtin_memcpy(e->kind, (const void *)klock_kind_names[own_key.kind & (KLOCK_KINDS_MAX - 1)].name,
			 sizeof(e->kind));
	event_submit(e);
	return 0;
}
