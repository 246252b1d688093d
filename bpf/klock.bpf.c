// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Locks of the kernel that traced threads wait for: a wait is one record, at its end. While a lock is free
 * nothing of this runs.
 *
 * A mutex reports a wait twice, when it spins and when it sleeps, and its end once. Who sleeps may
 * go on on another CPU; who spins stays, and may be interrupted by what spins for another lock.
 *
 * The kernel does not enter a program on a CPU where an interrupt has interrupted it. So each tracepoint has a nested
 * program, which is called after the first one for every event. It looks for what the first one noted of the event, and
 * records the event if there is nothing.
 */
#include "acquire.bpf.h"
#include "context.bpf.h"
#include "cost.bpf.h"
#include "klock.bpf.h"
#include "stack.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

enum {
	KLOCK_MEAN_MAX_NS = 4000000000u,
	SPIN_MIN_NS = 1000, /* shorter ones are examined as if they took that long */
	SPIN_LONG_NS = 20000,
	OWNER_FLAGS = 7,
	OWNER_READS = 1, /* of an rw_semaphore */
	RWLOCK_BYTES = 8,
};

/* In struct klock_seen, in place of an address or a context. */
enum {
	SEEN_NOTHING = 0,
	SEEN_AT_WORK = 1,              /* the first program is running */
	SEEN_UNTRACED = WAKE_CONTEXTS, /* nothing of the thread that it runs in is recorded */
};

/* Since 6.2 ("bpf: Add kfuncs to store struct task_struct * as a kptr"). */
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

static __always_inline bool may_sleep(__u32 flags)
{
	return !(flags & CONTENTION_SPINS) || flags & CONTENTION_MUTEX;
}

static __always_inline enum klock_kind kind_of(__u32 flags)
{
	bool reads = flags & CONTENTION_READS, writes = flags & CONTENTION_WRITES;

	if (flags & CONTENTION_MUTEX)
		return KLOCK_MUTEX;
	if (flags & CONTENTION_PERCPU)
		return writes ? KLOCK_PERCPU_WRITE : KLOCK_PERCPU_READ;
	if (flags & CONTENTION_SPINS)
		return reads ? KLOCK_RWLOCK_READ : writes ? KLOCK_RWLOCK_WRITE : KLOCK_SPINLOCK;
	if (reads || writes)
		return reads ? KLOCK_RWSEM_READ : KLOCK_RWSEM_WRITE;
	return flags & CONTENTION_RT ? KLOCK_RTMUTEX : KLOCK_SEMAPHORE;
}

static __always_inline __u32 lengths_of(enum klock_kind kind)
{
	return kind == KLOCK_MUTEX ? KLOCK_DOES_BOTH : kind <= KLOCK_RWLOCK_WRITE ? KLOCK_SPINS : KLOCK_SLEEPS;
}

/* The task that has the lock, and flags; 0: it does not say, or nobody has. */
static __always_inline __u64 owner_word(__u64 address, enum klock_kind kind)
{
	struct rw_semaphore *semaphore = (struct rw_semaphore *)address;
	struct mutex *mutex = (struct mutex *)address;

	if (kind == KLOCK_MUTEX && bpf_core_field_exists(mutex->owner))
		return BPF_CORE_READ(mutex, owner.counter);
	if ((kind == KLOCK_RWSEM_READ || kind == KLOCK_RWSEM_WRITE) && bpf_core_field_exists(semaphore->owner))
		return BPF_CORE_READ(semaphore, owner.counter);
	return 0;
}

static __always_inline void owner_note(struct klock_wait *wait)
{
	__u64 word = owner_word(wait->address, wait->kind);
	struct task_struct *owner = (struct task_struct *)(word & ~(__u64)OWNER_FLAGS);

	if (wait->kind != KLOCK_MUTEX && word & OWNER_READS)
		wait->flags |= KLOCK_HAS_READERS;
	else if (owner)
		wait->owner = BPF_CORE_READ(owner, pid);
}

/* Where in the kernel the owner is, and who it is if it is not traced. One that runs is nowhere yet. */
static __always_inline __u64 owner_emit(struct cpu_counts *here, __u32 tid, bool wants_stack)
{
	__u64 stack = 0;
	struct task_struct *owner;

	if (!tid || !bpf_task_from_pid)
		return 0;
	owner = bpf_task_from_pid(tid);
	if (!owner)
		return 0;
	if (!thread_of(owner))
		other_emit(here, owner);
	if (wants_stack && !owner->on_cpu)
		stack = stack_of_sleeper(owner, SCRATCH_OF_LOCKS);
	bpf_task_release(owner);
	return stack;
}

/*
 * The chance with which a wait has a stack from the beginning. Most waits that spin are shorter than it takes
 * to look at a stack: of these only as many are examined as their time is worth, lest the waiter finds the lock
 * taken again. What has turned out to be long is examined in the end.
 */
static __always_inline __u64 stack_keep_early(__u32 mean_ns, bool spins)
{
	__u64 keep = stack_keep(mean_ns), spinning_keep;

	if (!spins || mean_ns >= SPIN_LONG_NS)
		return keep;
	mean_ns = mean_ns < SPIN_MIN_NS ? SPIN_MIN_NS : mean_ns;
	spinning_keep = ((__u64)mean_ns << 32) / SPIN_LONG_NS;
	return keep < spinning_keep ? keep : spinning_keep;
}

/* Of who is not traced, nothing but where it is in the kernel. */
static __always_inline __u64 waiter_stack(void *ctx, struct task_struct *current, struct thread_state *thread)
{
	return thread ? stack_take(ctx, current, thread, true, SCRATCH_OF_LOCKS)
		      : stack_take_kernel(ctx, SCRATCH_OF_LOCKS);
}

/*
 * How long such waits of the thread are. Of those who are not traced nothing is known but that they are few: each that
 * may sleep is worth a look.
 */
static __always_inline __u32 mean_of(struct thread_state *thread, enum klock_kind kind)
{
	__u32 lengths = lengths_of(kind);

	return thread ? thread->klock_means_ns[lengths] : lengths == KLOCK_SPINS ? SPIN_MIN_NS : KLOCK_MEAN_MAX_NS;
}

/* Where the waiter is does not change until it has the lock. */
static __always_inline void stack_early(void *ctx, struct cpu_counts *here, struct klock_wait *wait,
					struct task_struct *current, struct thread_state *thread, bool spins)
{
	__u32 mean_ns = mean_of(thread, wait->kind);
	__u64 keep = stack_keep_early(mean_ns, spins), coin = keep < KEEP_CERTAIN ? bpf_get_prandom_u32() : 0;

	wait->keep = keep < KEEP_CERTAIN ? keep : 0;
	/* An owner that has no CPU is worth a look, whatever the waiter does. */
	wait->owner_stack = owner_emit(here, wait->owner, coin < stack_keep(mean_ns));
	if (coin >= keep)
		return;
	wait->flags |= KLOCK_HAS_STACK;
	wait->stack = waiter_stack(ctx, current, thread);
}

/* The same at the end of a long wait: all of these have one, as far as the governor lets. */
static __always_inline void stack_late(void *ctx, struct klock_wait *wait, struct task_struct *current,
				       struct thread_state *thread, __u64 wait_ns)
{
	__u64 early = wait->keep, keep;

	if (!early || wait_ns < SPIN_LONG_NS)
		return;
	keep = stack_keep(wait_ns);
	if (!(wait->flags & KLOCK_HAS_STACK) && (keep >= KEEP_CERTAIN || bpf_get_prandom_u32() < keep)) {
		wait->flags |= KLOCK_HAS_STACK;
		wait->stack = waiter_stack(ctx, current, thread);
	}
	wait->keep = keep_of_two(early, keep);
}

/*
 * Whoever waits for a rwlock waits for the spinlock in it first, if there are others: no other wait that spins
 * has one within. NULL: this one is not for such a lock, except for another one, and the outer one is over.
 */
static __always_inline struct klock_wait *spin_within(const struct klock_wait *outer, __u64 address, __u32 context)
{
	__u32 inner = SPINS_INNER + context;

	if (address == outer->address || address - outer->address >= RWLOCK_BYTES)
		return NULL;
	return bpf_map_lookup_elem(&klock_spins, &inner);
}

static __always_inline struct klock_wait *spin_begun(__u64 address, __u32 context)
{
	struct klock_wait *spin = bpf_map_lookup_elem(&klock_spins, &context), *inner;

	if (!spin || !spin->address)
		return spin;
	inner = spin_within(spin, address, context);
	return inner ? inner : spin;
}

static __always_inline struct klock_wait *spin_ended(__u64 address, __u32 context)
{
	struct klock_wait *spin = bpf_map_lookup_elem(&klock_spins, &context);

	if (spin && spin->address && spin->address != address)
		spin = spin_within(spin, address, context);
	return spin && spin->address == address ? spin : NULL;
}

/* Where waits are that may sleep, KLOCKS_AT_ONCE of them. NULL: there is no space. */
static __always_inline struct klock_wait *waits_of(struct thread_state *thread, struct task_struct *current,
						   __u64 flags)
{
	struct klock_waits *waits;

	if (thread)
		return thread->klocks;
	waits = trace_all ? bpf_task_storage_get(&klock_others, current, NULL, flags) : NULL;
	return waits ? waits->waits : NULL;
}

/* What the current thread waits for, or what interrupted it. NULL: there is no space. */
static __always_inline struct klock_wait *wait_begun(struct thread_state *thread, struct task_struct *current,
						     __u64 address, __u32 flags, __u32 context)
{
	struct klock_wait *waits;

	if (!may_sleep(flags))
		return spin_begun(address, context);
	waits = waits_of(thread, current, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!waits)
		return NULL;
	for (int i = 0; i < KLOCKS_AT_ONCE; i++)
		if (waits[i].address == address)
			return &waits[i];
	return waits[0].address ? &waits[1] : &waits[0];
}

static __always_inline struct klock_wait *wait_ended(struct thread_state *thread, struct task_struct *current,
						     __u64 address, __u32 context)
{
	struct klock_wait *spin = spin_ended(address, context), *waits;

	if (spin)
		return spin;
	waits = waits_of(thread, current, 0);
	if (!waits)
		return NULL;
	for (int i = KLOCKS_AT_ONCE - 1; i >= 0; i--)
		if (waits[i].address == address)
			return &waits[i];
	return NULL;
}

static __always_inline void spin_forget(__u32 key)
{
	struct klock_wait *spin = bpf_map_lookup_elem(&klock_spins, &key);

	if (spin)
		spin->address = 0;
}

/*
 * While code of this context runs here, nothing that interrupts it waits. The kernel does not enter a program again
 * that it has interrupted, so an interrupt's beginning may be recorded and its end not: then it must not meet the end of a
 * later one.
 */
static __always_inline void interrupts_forget(struct cpu_counts *here, __u32 context)
{
	volatile __u32 *have_waited = &here->interrupts_spin;

	if (!*have_waited)
		return;
	/* First: an interrupt may come right now. */
	if (context < WAKE_SOFTIRQ) {
		*have_waited = false;
		spin_forget(WAKE_SOFTIRQ);
		spin_forget(SPINS_INNER + WAKE_SOFTIRQ);
	}
	if (context < WAKE_HARDIRQ) {
		spin_forget(WAKE_HARDIRQ);
		spin_forget(SPINS_INNER + WAKE_HARDIRQ);
	}
}

static __always_inline bool is_recorded(struct task_struct *current, struct thread_state *thread)
{
	return thread || (trace_all && (__u32)current->tgid != own_pid);
}

/* The thread waits itself, and not an interrupt in its place. */
static __always_inline bool is_own(struct thread_state *thread, __u32 context)
{
	return thread ? context == WAKE_THREAD : context == WAKE_KERNEL_THREAD;
}

static __always_inline __u32 context_recorded(struct task_struct *current, struct thread_state *thread)
{
	return is_recorded(current, thread) ? context_here(current) : SEEN_UNTRACED;
}

static __always_inline void first_begin(volatile struct klock_seen *seen, __u32 context)
{
	if (seen->address)
		seen->interrupted = seen->address;
	seen->context = context;
	seen->address = SEEN_AT_WORK;
}

static __always_inline void first_end(volatile struct klock_seen *seen, __u64 address)
{
	seen->address = address;
}

static __always_inline bool first_has_seen(volatile struct klock_seen *seen, __u64 address)
{
	if (seen->address != address)
		return false;
	seen->address = SEEN_NOTHING;
	return true;
}

/*
 * Whether an event that the first program has not seen last is to be recorded, as one of an interrupt for which it was not
 * entered. Where it is at work in the same context, one of its own helpers waits for a lock, and may hold others.
 */
static __always_inline bool is_missed(struct cpu_counts *here, volatile struct klock_seen *seen, __u64 address,
				      __u32 context)
{
	bool is_unwanted =
		seen->address == SEEN_AT_WORK && (seen->context == context || seen->context == SEEN_UNTRACED);

	if (seen->interrupted == address) {
		seen->interrupted = SEEN_NOTHING;
		return false;
	}
	if (!is_unwanted && (context < WAKE_SOFTIRQ || here->is_remembering))
		return false;
	__sync_fetch_and_add(&here->klocks_nested, 1);
	return !is_unwanted;
}

static __always_inline void on_begin(void *ctx, struct cpu_counts *here, struct task_struct *current,
				     struct thread_state *thread, __u32 context, __u64 address, __u32 flags)
{
	struct klock_wait *wait;

	interrupts_forget(here, context);
	if (context >= WAKE_SOFTIRQ)
		here->interrupts_spin = true;
	wait = wait_begun(thread, current, address, flags, context);
	/* Of any other kind the end was not reported, and this is another wait. */
	if (!wait || (wait->address == address && wait->kind == KLOCK_MUTEX))
		return;
	__builtin_memset(wait, 0, sizeof(*wait));
	wait->begin_ns = bpf_ktime_get_ns();
	wait->kind = kind_of(flags);
	wait->address = address;
	if (thread && may_sleep(flags))
		thread->waits_klocks = true;
	wait->lock = klock_name(address, wait->kind, context);
	owner_note(wait);
	if (is_own(thread, context))
		stack_early(ctx, here, wait, current, thread, flags & CONTENTION_SPINS);
	wait->tracing_ns = bpf_ktime_get_ns() - wait->begin_ns;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(klock_begin, void *lock, unsigned int flags)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_counts *here = counts_here();
	struct thread_state *thread;
	__u64 begin_ns;
	__u32 context;

	if (here->is_remembering)
		return 0;
	begin_ns = cost_begin(here);
	thread = thread_of(current);
	context = context_recorded(current, thread);
	first_begin(&here->klock_begin_seen, context);
	if (context != SEEN_UNTRACED)
		on_begin(ctx, here, current, thread, context, (__u64)lock, flags);
	first_end(&here->klock_begin_seen, (__u64)lock);
	cost_end(here, begin_ns);
	return 0;
}

static __always_inline void nested_on_begin(void *ctx, struct cpu_counts *here, __u64 address, unsigned int flags)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 context = context_here(current);
	struct thread_state *thread;
	__u64 begin_ns;

	if (!is_missed(here, &here->klock_begin_seen, address, context))
		return;
	begin_ns = cost_begin(here);
	thread = thread_of(current);
	if (is_recorded(current, thread))
		on_begin(ctx, here, current, thread, context, address, flags);
	cost_end(here, begin_ns);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(nested_begin, void *lock, unsigned int flags)
{
	struct cpu_counts *here = counts_here();

	if (!first_has_seen(&here->klock_begin_seen, (__u64)lock))
		nested_on_begin(ctx, here, (__u64)lock, flags);
	return 0;
}

static __always_inline void wait_fill(struct ev_klock_wait *e, const struct klock_wait *wait, __u32 tid)
{
	e->begin_ns = wait->begin_ns;
	e->lock = wait->lock;
	e->stack = wait->stack;
	e->keep = wait->flags & KLOCK_HAS_STACK ? wait->keep : 0;
	e->tid = tid;
	e->owner = wait->owner;
	e->kind = wait->kind;
	e->flags = wait->flags;
	e->reserved = 0;
	e->owner_stack = wait->owner_stack;
	e->tracing_ns = wait->tracing_ns;
	e->reserved2 = 0;
}

static __always_inline void mean_note(struct thread_state *thread, enum klock_kind kind, __u64 wait_ns)
{
	__u32 *mean_ns = &thread->klock_means_ns[lengths_of(kind)];

	if (wait_ns > KLOCK_MEAN_MAX_NS)
		wait_ns = KLOCK_MEAN_MAX_NS;
	*mean_ns = (3ull * *mean_ns + wait_ns) / 4;
}

static __always_inline void on_end(void *ctx, struct cpu_counts *here, struct task_struct *current,
				   struct thread_state *thread, __u32 context, __u64 address, int result)
{
	struct ev_klock_wait *e;
	struct klock_wait *wait;
	__u64 now_ns;

	interrupts_forget(here, context);
	if (counts_acquisitions && thread && context == WAKE_THREAD)
		hold_waited(thread, address, result != 0);
	wait = wait_ended(thread, current, address, context);
	if (!wait)
		return;
	wait->address = 0;
	if (thread && thread->waits_klocks)
		thread->waits_klocks = thread->klocks[0].address || thread->klocks[KLOCKS_AT_ONCE - 1].address;
	now_ns = bpf_ktime_get_ns();
	if (is_own(thread, context))
		stack_late(ctx, wait, current, thread, now_ns - wait->begin_ns);
	if (!thread && context <= WAKE_KERNEL_THREAD)
		other_emit(here, current);
	e = event_reserve(EV_KLOCK_WAIT, thread ? thread->thread : 0, sizeof(*e));
	if (!e)
		return;
	wait_fill(e, wait, current->pid);
	e->context = context;
	e->tracing_ns += e->header.time_ns - now_ns;
	if (result)
		e->flags |= KLOCK_GAVE_UP;
	if (thread && context == WAKE_THREAD)
		mean_note(thread, wait->kind, now_ns - e->begin_ns);
	event_submit(e);
}

SEC("tp_btf/contention_end")
int BPF_PROG(klock_end, void *lock, int result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cpu_counts *here = counts_here();
	struct thread_state *thread;
	__u64 begin_ns;
	__u32 context;

	if (here->is_remembering)
		return 0;
	begin_ns = cost_begin(here);
	thread = thread_of(current);
	context = context_recorded(current, thread);
	first_begin(&here->klock_end_seen, context);
	if (context != SEEN_UNTRACED)
		on_end(ctx, here, current, thread, context, (__u64)lock, result);
	first_end(&here->klock_end_seen, (__u64)lock);
	cost_end(here, begin_ns);
	return 0;
}

static __always_inline void nested_on_end(void *ctx, struct cpu_counts *here, __u64 address, int result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u32 context = context_here(current);
	struct thread_state *thread;
	__u64 begin_ns;

	if (!is_missed(here, &here->klock_end_seen, address, context))
		return;
	begin_ns = cost_begin(here);
	thread = thread_of(current);
	if (is_recorded(current, thread))
		on_end(ctx, here, current, thread, context, address, result);
	cost_end(here, begin_ns);
}

SEC("tp_btf/contention_end")
int BPF_PROG(nested_end, void *lock, int result)
{
	struct cpu_counts *here = counts_here();

	if (!first_has_seen(&here->klock_end_seen, (__u64)lock))
		nested_on_end(ctx, here, (__u64)lock, result);
	return 0;
}

/*
 * Whoever ends a wait takes its address away before its record has a time: as long as it is there, a record that
 * has one comes before that of the end.
 */
static __always_inline bool lasts(const struct klock_wait *wait, __u64 begin_ns)
{
	return *(volatile const __u64 *)&wait->address && *(volatile const __u64 *)&wait->begin_ns == begin_ns;
}

static __always_inline void emit_lasting(struct thread_state *thread, const struct klock_wait *wait, __u32 tid)
{
	struct ev_klock_wait *e;

	if (!wait->address)
		return;
	e = event_reserve(EV_KLOCK_WAIT, thread->thread, sizeof(*e));
	if (!e)
		return;
	wait_fill(e, wait, tid);
	e->context = WAKE_THREAD;
	e->flags |= KLOCK_LASTS;
	if (lasts(wait, e->begin_ns))
		event_submit(e);
	else
		bpf_ringbuf_discard(e, BPF_RB_NO_WAKEUP);
}

__noinline int klocks_emit_lasting(struct thread_state *thread, __u32 tid)
{
	if (!thread)
		return 0;
	emit_lasting(thread, &thread->klocks[0], tid);
	emit_lasting(thread, &thread->klocks[KLOCKS_AT_ONCE - 1], tid);
	return 0;
}
