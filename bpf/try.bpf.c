// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Locks of files that traced threads take, and those that they try to take and do not get: who has them. A thread that
 * sleeps then to try again waits for that one (doc/decisions/0062).
 */
#include "cost.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum {
	LOCK_WRITE = 1, /* F_WRLCK */
	LOCK_NONE = 2,  /* F_UNLCK */
	LOCK_NB = 4,
	TRY_AGAIN = 11,
	LOCKS_MAX = 64, /* of a file, that are looked at */
};

struct lock_facts {
	__u64 owner;       /* the files of a process; or, of flock() and open file descriptions, one of them */
	__s64 first, last; /* of the locked bytes */
	__u8 type;
};

static __always_inline void lock_read(struct lock_facts *facts, __u64 address)
{
	if (bpf_core_type_exists(struct file_lock_core)) {
		struct file_lock *lock = (struct file_lock *)address;

		facts->owner = (__u64)BPF_CORE_READ(lock, c.flc_owner);
		facts->first = BPF_CORE_READ(lock, fl_start);
		facts->last = BPF_CORE_READ(lock, fl_end);
		facts->type = BPF_CORE_READ(lock, c.flc_type);
	} else {
		struct file_lock___before_6_9 *lock = (struct file_lock___before_6_9 *)address;

		facts->owner = (__u64)BPF_CORE_READ(lock, fl_owner);
		facts->first = BPF_CORE_READ(lock, fl_start);
		facts->last = BPF_CORE_READ(lock, fl_end);
		facts->type = BPF_CORE_READ(lock, fl_type);
	}
}

/* From the place of a lock in its list to the lock. */
static __always_inline __u64 list_offset(void)
{
	return bpf_core_type_exists(struct file_lock_core)
		       ? bpf_core_field_offset(struct file_lock, c) +
				 bpf_core_field_offset(struct file_lock_core, flc_list)
		       : bpf_core_field_offset(struct file_lock___before_6_9, fl_list);
}

static __always_inline bool is_in_the_way(const struct lock_facts *has, const struct lock_facts *wants)
{
	return (has->type == LOCK_WRITE || wants->type == LOCK_WRITE) && has->owner != wants->owner &&
	       has->first <= wants->last && wants->first <= has->last;
}

/* Of the locks of a file. */
struct holder_search {
	struct lock_facts wants;
	__u64 list, at; /* where the list has its head; the place of the next one, 0 or the head: there is none */
	__u64 owner;    /* of the lock that is in the way, 0: none yet */
};

static __always_inline __u64 next_of(__u64 place)
{
	struct list_head *at = (struct list_head *)place;

	return (__u64)BPF_CORE_READ(at, next);
}

/* Looks at one lock; 1 when that was the last. A callback of bpf_loop(). */
static long holder_step(__u32 index __attribute__((unused)), void *data)
{
	struct holder_search *search = data;
	struct lock_facts has = {};

	if (!search->at || search->at == search->list)
		return 1;
	lock_read(&has, search->at - list_offset());
	if (is_in_the_way(&has, &search->wants)) {
		search->owner = has.owner;
		return 1;
	}
	search->at = next_of(search->at);
	return 0;
}

/* The owner of what the lock is not given for; 0: it is gone. */
static __always_inline __u64 holder_find(struct inode *inode, const struct lock_facts *wants, bool is_flock)
{
	__u64 locks = (__u64)BPF_CORE_READ(inode, i_flctx);
	struct holder_search search = { .wants = *wants };

	if (!locks)
		return 0;
	search.list = locks + (is_flock ? bpf_core_field_offset(struct file_lock_context, flc_flock)
					: bpf_core_field_offset(struct file_lock_context, flc_posix));
	search.at = next_of(search.list);
	bpf_loop(LOCKS_MAX, holder_step, &search, 0);
	return search.owner;
}

/* The current thread has tried to take the lock. */
static __always_inline void try_note(struct thread_state *thread, struct inode *inode, const struct lock_facts *wants,
				     bool is_flock)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(current);
	struct file_locker_key key = { .inode = (__u64)inode };
	struct lock_try *try = &thread->lock_try;
	struct file_locker *locker;

	/* Calls of 32 bits have numbers of their own. */
	if (regs->orig_ax >= SYSCALLS_MAX || current->thread_info.status & COMPAT_STATUS)
		return;
	key.owner = holder_find(inode, wants, is_flock);
	locker = bpf_map_lookup_elem(&file_lockers, &key);
	try->syscall = regs->orig_ax;
	/* F_SETLKW is one more than F_SETLK, and so with their like. */
	try->operation = is_flock ? regs->si & ~LOCK_NB : regs->si + 1;
	try->descriptor = regs->di;
	try->holder = locker ? locker->thread : 0;
	try->holder_tid = locker ? locker->tid : 0;
	try->holder_pid = locker ? locker->pid : 0;
	try->at_ns = bpf_ktime_get_ns();
}

static __always_inline void lock_note(struct inode *inode, struct file_lock *lock, int result, bool is_flock)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(current);
	struct file_locker locker = { .tid = current->pid, .pid = current->tgid };
	struct file_locker_key key = { .inode = (__u64)inode };
	struct lock_facts wants = {};

	if (!thread || !lock || (result && result != -TRY_AGAIN))
		return;
	lock_read(&wants, (__u64)lock);
	if (result) {
		try_note(thread, inode, &wants, is_flock);
	} else if (wants.type != LOCK_NONE) {
		key.owner = wants.owner;
		locker.thread = thread->thread;
		bpf_map_update_elem(&file_lockers, &key, &locker, BPF_ANY);
	}
}

SEC("tp_btf/posix_lock_inode")
int BPF_PROG(lock_posix, struct inode *inode, struct file_lock *lock, int result)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	lock_note(inode, lock, result, false);
	cost_end(here, begin_ns);
	return 0;
}

SEC("tp_btf/flock_lock_inode")
int BPF_PROG(lock_flock, struct inode *inode, struct file_lock *lock, int result)
{
	struct cpu_counts *here = counts_here();
	__u64 begin_ns = cost_begin(here);

	lock_note(inode, lock, result, true);
	cost_end(here, begin_ns);
	return 0;
}
