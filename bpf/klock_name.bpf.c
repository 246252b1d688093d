// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What kernel locks are part of. An address that lies in an object of the current thread, in the file
 * that its system call is on, or in what looks like an inode by itself, is that object's; only reads that may
 * fail, for the object may be going.
 */
#include "emit.bpf.h"
#include "file.bpf.h"
#include "hash.bpf.h"
#include "klock.bpf.h"

#include <bpf/bpf_core_read.h>

enum {
	FILE_KIND_MASK = 0170000,
	FILE_KIND_SOCKET = 0140000,
	FILE_KIND_PIPE = 0010000,
	FAMILY_UNIX = 1,
	/* In klocks_known. */
	KNOWN_OTHER = 1,
	KNOWN_QUEUE = 2, /* the lock of a run queue */
};

/* Since 6.13 ("bpf: Add kmem_cache iterator and kfunc"). */
extern struct kmem_cache *bpf_get_kmem_cache(__u64 address) __ksym __weak;

/* Notes what the lock is part of, if it lies there. */
#define LIES_IN(e, base, type, what) lies_in(e, (__u64)(base), bpf_core_type_size(type), what)

static __always_inline bool lies_in(struct ev_klock_lock *e, __u64 base, __u32 bytes, enum klock_object what)
{
	if (!base || e->address - base >= bytes)
		return false;
	e->object = what;
	e->offset = e->address - base;
	return true;
}

/* Of the process or of the thread itself. */
static __always_inline bool is_of_process(struct ev_klock_lock *e, struct task_struct *current)
{
	__u64 task = bpf_get_current_task();

	if (!LIES_IN(e, KERNEL_WORD(struct task_struct, task, mm), struct mm_struct, KLOCK_OF_MEMORY) &&
	    !LIES_IN(e, KERNEL_WORD(struct task_struct, task, files), struct files_struct, KLOCK_OF_DESCRIPTORS) &&
	    !LIES_IN(e, KERNEL_WORD(struct task_struct, task, sighand), struct sighand_struct, KLOCK_OF_SIGNALS) &&
	    !LIES_IN(e, KERNEL_WORD(struct task_struct, task, signal), struct signal_struct, KLOCK_OF_PROCESS) &&
	    !LIES_IN(e, task, struct task_struct, KLOCK_OF_THREAD))
		return false;
	e->pid = e->object == KLOCK_OF_THREAD ? current->pid : current->tgid;
	return true;
}

static __always_inline bool is_of_socket(struct ev_klock_lock *e, struct file *file)
{
	__u64 socket = KERNEL_WORD(struct file, file, private_data);
	struct sock *sock = (struct sock *)KERNEL_WORD(struct socket, socket, sk);

	if (BPF_CORE_READ(sock, __sk_common.skc_family) != FAMILY_UNIX)
		return LIES_IN(e, sock, struct sock, KLOCK_OF_SOCKET);
	return LIES_IN(e, sock, struct unix_sock, KLOCK_OF_UNIX_SOCKET) ||
	       LIES_IN(e, KERNEL_WORD(struct unix_sock, sock, peer), struct unix_sock, KLOCK_OF_UNIX_PEER);
}

/* Of the file that the current system call is on. */
static __always_inline bool is_of_file(struct ev_klock_lock *e, struct task_struct *current)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(current);
	__u64 number = regs->orig_ax, file;
	struct inode *inode;
	__u32 kind;

	if (number >= SYSCALLS_MAX || current->thread_info.status & COMPAT_STATUS)
		return false;
	switch (wait_arguments[number & (SYSCALLS_MAX - 1)]) {
	case ARGUMENT_FILE:
	case ARGUMENT_FILE_PARTS:
	case ARGUMENT_FILE_MESSAGE:
		break;
	default:
		return false;
	}
	file = file_find_here(regs->di);
	if (file <= FILE_NONE)
		return false;
	inode = (struct inode *)KERNEL_WORD(struct file, file, f_inode);
	kind = BPF_CORE_READ(inode, i_mode) & FILE_KIND_MASK;
	if (!LIES_IN(e, inode, struct inode, KLOCK_OF_INODE) && !LIES_IN(e, file, struct file, KLOCK_OF_FILE) &&
	    !(kind == FILE_KIND_PIPE &&
	      LIES_IN(e, KERNEL_WORD(struct file, file, private_data), struct pipe_inode_info, KLOCK_OF_PIPE)) &&
	    !(kind == FILE_KIND_SOCKET && is_of_socket(e, (struct file *)file)))
		return false;
	e->file = file_name(file, (__u64)inode, SCRATCH_OF_LOCKS);
	return true;
}

static __always_inline __u32 scratch_owner(__u32 context)
{
	return context == WAKE_HARDIRQ   ? SCRATCH_OF_LOCKS_HARDIRQ
	       : context == WAKE_SOFTIRQ ? SCRATCH_OF_LOCKS_SOFTIRQ
					 : SCRATCH_OF_LOCKS;
}

/* Of an inode, if the lock is the one at this place of it: most inodes point to their own pages. */
static __always_inline bool is_of_inode_at(struct ev_klock_lock *e, __u32 context, __u64 offset)
{
	struct inode *inode = (struct inode *)(e->address - offset);
	__u64 pages = (__u64)inode + bpf_core_field_offset(struct inode, i_data);

	if (KERNEL_WORD(struct inode, inode, i_mapping) != pages || !KERNEL_WORD(struct inode, inode, i_sb))
		return false;
	e->object = KLOCK_OF_INODE;
	e->offset = offset;
	e->file = inode_name((__u64)inode, scratch_owner(context));
	return true;
}

/* The spinlock in an inode's semaphore, which has none with PREEMPT_RT. */
static __always_inline bool is_of_inode_queue(struct ev_klock_lock *e, __u32 context)
{
	struct rw_semaphore *semaphore = NULL;

	return bpf_core_field_exists(semaphore->wait_lock) &&
	       is_of_inode_at(e, context,
			      bpf_core_field_offset(struct inode, i_rwsem) +
				      bpf_core_field_offset(struct rw_semaphore, wait_lock));
}

static __always_inline bool is_of_inode(struct ev_klock_lock *e, __u32 kind, __u32 context)
{
	if (kind == KLOCK_RWSEM_READ || kind == KLOCK_RWSEM_WRITE)
		return is_of_inode_at(e, context, bpf_core_field_offset(struct inode, i_rwsem));
	if (kind != KLOCK_SPINLOCK)
		return false;
	return is_of_inode_at(e, context, bpf_core_field_offset(struct inode, i_lock)) ||
	       is_of_inode_at(e, context,
			      bpf_core_field_offset(struct inode, i_data) +
				      bpf_core_field_offset(struct address_space, i_pages) +
				      bpf_core_field_offset(struct xarray, xa_lock)) ||
	       is_of_inode_queue(e, context);
}

/* A callback of bpf_loop(). */
static long queue_step(__u32 cpu, void *data)
{
	struct ev_klock_lock *e = *(struct ev_klock_lock **)data;

	if (!LIES_IN(e, cpu_counts[cpu & (KERNEL_CPUS_MAX - 1)].run_queue, struct rq, KLOCK_OF_RUN_QUEUE))
		return 0;
	e->cpu = cpu;
	return 1;
}

/* What need not be known to tell the lock from others. */
static __always_inline void describe(struct ev_klock_lock *e, struct task_struct *current)
{
	struct kmem_cache *cache;

	if (!e->object)
		bpf_loop(KERNEL_CPUS_MAX, queue_step, &e, 0);
	if (e->pid)
		bpf_probe_read_kernel(e->process, sizeof(e->process), BPF_CORE_READ(current, group_leader)->comm);
	if (e->object == KLOCK_OF_RUN_QUEUE || !bpf_get_kmem_cache)
		return;
	cache = bpf_get_kmem_cache(e->address);
	if (cache)
		bpf_probe_read_kernel_str(e->cache, sizeof(e->cache), cache->name);
}

static __always_inline volatile __u64 *queue_lock_at(__u64 address)
{
	return &counts_here()->queue_locks[address * HASH_FACTOR >> (64 - QUEUE_LOCKS_BITS)];
}

static __always_inline __u64 name_of(__u64 address, __u64 file, __u64 pid)
{
	__u64 name = hash_mix(hash_mix(hash_mix(0, address), file), pid);

	return name ? name : 1;
}

__noinline __u64 klock_name(__u64 address, __u32 kind, __u32 context)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct ev_klock_lock *e = bpf_map_lookup_elem(&klock_scratch, &context);
	volatile __u64 *queue_lock = queue_lock_at(address);
	void *ring = ring_here();
	const __u8 *known;
	__u64 lock;
	__u8 seen;

	if (*queue_lock == address)
		return name_of(address, 0, 0);
	if (!e || !ring)
		return 0;
	event_clear(e, sizeof(*e));
	e->address = address;
	if (!is_of_process(e, current) && !(context == WAKE_THREAD && is_of_file(e, current)))
		is_of_inode(e, kind, context);
	lock = name_of(address, e->file, e->pid);
	known = bpf_map_lookup_elem(&klocks_known, &lock);
	if (known) {
		if (*known == KNOWN_QUEUE)
			*queue_lock = address;
		return lock;
	}
	describe(e, current);
	header_fill(&e->header, EV_KLOCK_LOCK, 0);
	e->lock = lock;
	seen = e->object == KLOCK_OF_RUN_QUEUE ? KNOWN_QUEUE : KNOWN_OTHER;
	if (!gap_is_reported() || bpf_ringbuf_output(ring, e, sizeof(*e), BPF_RB_NO_WAKEUP))
		event_lost();
	else
		remember(&klocks_known, &lock, &seen);
	return lock;
}

/* Finds the run queues of all CPUs: each has kernel threads's that stay there. */
SEC("iter/task")
int list_queues(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct rq *queue = NULL;

	if (!task || !bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->cpu))
		return 0;
	queue = task->se.cfs_rq->rq;
	cpu_counts[BPF_CORE_READ(queue, cpu) & (KERNEL_CPUS_MAX - 1)].run_queue = (__u64)queue;
	return 0;
}
