/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread that blocks waits for, as its own registers tell (doc/design.md, section 2): no system call
 * is probed. What that means is for the engine to say.
 */
#pragma once

#include "file.bpf.h"

enum {
	OPERATION_MAX = 0xffff,
	FUTEX_WORDS = 5, /* the word, and those around it where libraries keep who holds a lock */
	NO_DESCRIPTOR = 0xffffffff,
	FUTEX_PRIVATE = 128,
	FUTEX_OPERATION_MASK = FUTEX_WITHOUT_LIMIT - 1,
	PARTS_MAX = 16, /* of what a call reads or writes: of more the sum is unknown */
};

struct pollfd {
	int fd;
	short events, revents;
};

struct time_limit { /* struct timespec */
	__u64 seconds, nanoseconds;
};

struct futex_waiter { /* struct futex_waitv */
	__u64 value, address;
};

struct part { /* struct iovec */
	__u64 address, bytes;
};

struct message { /* the beginning of struct msghdr */
	__u64 name, name_bytes, parts, part_count;
};

static __always_inline __u32 saturated(__u64 value)
{
	return value > 0xffffffff ? 0xffffffff : value;
}

/* Only the current thread's memory can be read. */
static __always_inline bool user_read(void *to, __u32 bytes, struct task_struct *task, __u64 address)
{
	return task == bpf_get_current_task_btf() && !bpf_probe_read_user(to, bytes, (void *)address);
}

static __always_inline void futex_read(struct ev_sched_switch *e, struct task_struct *task, __u64 address)
{
	__u32 words[FUTEX_WORDS] = {};

	/* What lies behind it may be on a page that is not there. */
	if (!user_read(words, sizeof(words), task, address))
		user_read(words, sizeof(words[0]), task, address);
	e->value = words[0];
	e->owners[0] = words[2];
	e->owners[1] = words[3];
	e->owners[2] = words[4];
}

/* limit: the address of a time; 0: none. */
static __always_inline __u16 futex_operation(__u64 operation, __u64 limit)
{
	return (operation & FUTEX_OPERATION_MASK) | (limit ? 0 : FUTEX_WITHOUT_LIMIT);
}

static __always_inline void futexes_read(struct ev_sched_switch *e, struct task_struct *task, __u64 address)
{
	struct futex_waiter first = {};

	user_read(&first, sizeof(first), task, address);
	e->object = first.address;
	futex_read(e, task, first.address);
}

/* Of poll(), in milliseconds. */
static __always_inline __u16 limit_of(int limit_ms)
{
	return limit_ms < 0 || limit_ms >= OPERATION_MAX ? OPERATION_MAX : limit_ms;
}

/* The same of ppoll(), at an address. */
static __always_inline __u16 limit_at(struct task_struct *task, __u64 address)
{
	struct time_limit limit = {};
	__u64 limit_ms;

	if (!user_read(&limit, sizeof(limit), task, address) || limit.seconds >= OPERATION_MAX)
		return OPERATION_MAX;
	limit_ms = limit.seconds * 1000 + limit.nanoseconds / 1000000;
	return limit_ms < OPERATION_MAX ? limit_ms : OPERATION_MAX;
}

static __always_inline void poll_read(struct ev_sched_switch *e, struct task_struct *task, struct thread_state *thread,
				      struct pt_regs *regs, enum scratch_owner owner)
{
	struct pollfd first = {};

	e->object = 0;
	e->value = regs->si;
	if (regs->si != 1 || !user_read(&first, sizeof(first), task, regs->di))
		return;
	e->object = file_of(task, thread, first.fd, owner);
	e->owners[0] = (__u16)first.events;
}

/* It goes on with the call that a signal interrupted, if that was seen: none has the number 0. */
static __always_inline void restart_read(struct ev_sched_switch *e, struct task_struct *task,
					 const struct thread_state *thread)
{
	e->object = 0;
	if (!thread->wait_syscall)
		return;
	e->syscall = thread->wait_syscall;
	e->operation = thread->wait_operation;
	e->object = thread->wait_object;
	e->value = thread->wait_value;
	switch (wait_arguments[e->syscall & (SYSCALLS_MAX - 1)]) {
	case ARGUMENT_FUTEX:
	case ARGUMENT_FUTEX_FLAGS:
	case ARGUMENT_FUTEX_VECTOR:
		futex_read(e, task, e->object);
	}
}

/* How many bytes there are in all parts; 0: unknown. They go where the names of the file will. */
static __always_inline __u32 parts_bytes(struct task_struct *task, __u64 address, __u64 count, enum scratch_owner owner)
{
	__u32 key = owner, i;
	struct file_scratch *s = bpf_map_lookup_elem(&file_scratch, &key);
	__u64 bytes = 0, too_many = 0;
	struct part *parts;

	if (!s)
		return 0;
	parts = (struct part *)s->names;
	for (i = 0; i < PARTS_MAX; i++)
		parts[i].bytes = 0;
	barrier_var(count);
	if (!count || count > PARTS_MAX || !user_read(parts, count * sizeof(*parts), task, address))
		return 0;
	/* Without a branch for each, which the verifier would follow both ways. */
	for (i = 0; i < PARTS_MAX; i++) {
		bytes += (__u32)parts[i].bytes;
		too_many |= parts[i].bytes >> 32;
	}
	return too_many ? 0xffffffff : saturated(bytes);
}

static __always_inline __u32 message_bytes(struct task_struct *task, __u64 address, enum scratch_owner owner)
{
	struct message message = {};

	return user_read(&message, sizeof(message), task, address)
		       ? parts_bytes(task, message.parts, message.part_count, owner)
		       : 0;
}

static __always_inline void file_read(struct ev_sched_switch *e, struct task_struct *task, struct thread_state *thread,
				      struct pt_regs *regs, enum scratch_owner owner, __u32 bytes)
{
	e->value = regs->di;
	e->operation = regs->si;
	e->object = file_of(task, thread, regs->di, owner);
	e->owners[0] = bytes;
	e->owners[1] = saturated(regs->r10);
	e->owners[2] = saturated(regs->r8);
}

/*
 * Who sleeps right after it did not get the lock of a file waits for that lock: it will try again. Such programs have no
 * call that would tell of the wait (SQLite, package managers).
 */
static __always_inline void try_read(struct ev_sched_switch *e, struct task_struct *task, struct thread_state *thread,
				     enum scratch_owner owner)
{
	struct lock_try *try = &thread->lock_try;

	if (owner == SCRATCH_OF_SWITCHES)
		try->is_awaited = try->is_new;
	if (!try->is_awaited)
		return;
	e->syscall = try->syscall;
	e->operation = try->operation;
	e->value = try->descriptor;
	e->object = file_of(task, thread, try->descriptor, owner);
}

static __always_inline void argument_read(struct ev_sched_switch *e, struct task_struct *task,
					  struct thread_state *thread, struct pt_regs *regs, enum scratch_owner owner)
{
	__u32 number = e->syscall;

	e->object = regs->di;
	switch (wait_arguments[number & (SYSCALLS_MAX - 1)]) {
	case ARGUMENT_FUTEX:
		e->operation = futex_operation(regs->si, regs->r10);
		futex_read(e, task, regs->di);
		break;
	case ARGUMENT_FUTEX_FLAGS:
		e->operation = futex_operation(regs->r10, regs->r8);
		futex_read(e, task, regs->di);
		break;
	case ARGUMENT_FUTEX_VECTOR:
		futexes_read(e, task, regs->di);
		break;
	case ARGUMENT_FILE:
		file_read(e, task, thread, regs, owner, saturated(regs->dx));
		break;
	case ARGUMENT_FILE_PARTS:
		file_read(e, task, thread, regs, owner, parts_bytes(task, regs->si, regs->dx, owner));
		break;
	case ARGUMENT_FILE_MESSAGE:
		file_read(e, task, thread, regs, owner, message_bytes(task, regs->si, owner));
		break;
	case ARGUMENT_POLL:
		e->operation = limit_of(regs->dx);
		poll_read(e, task, thread, regs, owner);
		break;
	case ARGUMENT_POLL_TIME:
		e->operation = limit_at(task, regs->dx);
		poll_read(e, task, thread, regs, owner);
		break;
	case ARGUMENT_RESTART:
		restart_read(e, task, thread);
		break;
	case ARGUMENT_TIME:
		e->value = regs->si;
		try_read(e, task, thread, owner);
		break;
	default:
		e->value = regs->si;
	}
}

/* What lies at an address. */
struct memory_place {
	__u64 file;
	bool is_mapped;
};

/* A callback of bpf_find_vma(). */
static long place_read(struct task_struct *task __attribute__((unused)), struct vm_area_struct *area, void *data)
{
	struct memory_place *place = data;

	/* As a number: the verifier would not let a pointer to a file into file_name(). */
	BPF_CORE_READ_INTO(&place->file, area, vm_file);
	place->is_mapped = true;
	return 0;
}

/*
 * The current thread, which blocks outside of system calls: in a page fault, if the last one was by
 * the code where it is. What is mapped there cannot be looked up while the mappings are changed, nor
 * where all can be preempted (PREEMPT_RT).
 */
static __always_inline void fault_read(struct ev_sched_switch *e, struct task_struct *task, struct thread_state *thread,
				       struct pt_regs *regs, enum scratch_owner owner)
{
	struct memory_place place = {};

	if (e->state != SWITCH_BLOCKED || !thread->fault_ip || thread->fault_ip != regs->ip)
		return;
	bpf_find_vma(task, thread->fault_address, place_read, &place, 0);
	if (!place.is_mapped)
		return;
	e->value = place.file ? MEMORY_OF_FILE : MEMORY_ANONYMOUS;
	if (!place.file)
		return;
	e->object = file_known(thread, place.file, owner);
	thread->file_descriptor = NO_DESCRIPTOR;
}

/* A worker of io_uring, for the request that it works on. */
static __always_inline void worker_read(struct ev_sched_switch *e, struct task_struct *task,
					struct thread_state *thread, enum scratch_owner owner)
{
	struct io_wq_work *work;
	__u64 file;

	e->value = MEMORY_NONE;
	if (!bpf_core_type_exists(struct io_kiocb))
		return;
	work = BPF_CORE_READ((struct io_worker *)task->worker_private, cur_work);
	if (!work)
		return;
	file = (__u64)BPF_CORE_READ((struct io_kiocb *)((void *)work - bpf_core_field_offset(struct io_kiocb, work)),
				    file);
	if (!file)
		return;
	e->object = file_known(thread, file, owner);
	thread->file_descriptor = NO_DESCRIPTOR;
}

/* A blocked thread, or the current one that blocks. */
static __always_inline void wait_describe(struct ev_sched_switch *e, struct task_struct *task,
					  struct thread_state *thread, enum scratch_owner owner)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 number = regs->orig_ax;

	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		e->flags |= SWITCH_IO_WAIT;
	if (task->flags & PF_IO_WORKER) {
		worker_read(e, task, thread, owner);
		return;
	}
	if (task->flags & PF_USER_WORKER) {
		e->value = MEMORY_NONE;
		return;
	}
	if (number >= SYSCALLS_MAX) {
		if (owner == SCRATCH_OF_SWITCHES)
			fault_read(e, task, thread, regs, owner);
		return;
	}
	if (task->thread_info.status & COMPAT_STATUS) {
		e->flags |= SWITCH_COMPAT;
		return;
	}
	e->syscall = number;
	argument_read(e, task, thread, regs, owner);
	thread->wait_syscall = e->syscall;
	thread->wait_operation = e->operation;
	thread->wait_object = e->object;
	thread->wait_value = e->value;
}

/* The current thread's futex, if it lies in memory that processes share. What is mapped there is looked up once in a row. */
static __always_inline __u64 place_of(struct task_struct *task, struct thread_state *thread, enum scratch_owner owner)
{
	__u64 address = thread->wait_object, space = (__u64)for_pointers(task)->mm, file, name = 0;

	if (thread->place_address == address && thread->place_space == space)
		return thread->place;
	file = shared_file(address, owner);
	if (file)
		name = place_name(file_name(file, (__u64)BPF_CORE_READ((struct file *)file, f_inode), owner), owner);
	thread->place = name;
	thread->place_space = space;
	/* Looked up again if there was no space to tell it. */
	thread->place_address = !name || bpf_map_lookup_elem(&files_known, &name) ? address : 0;
	return name;
}

/* The file of a path that a call of the current thread was given. */
static __always_inline __u64 file_of_path(__u64 descriptor, __u64 address, enum scratch_owner owner)
{
	__u64 directory = 0;
	char first = 0;

	if (bpf_probe_read_user(&first, sizeof(first), (void *)address))
		return 0;
	if (first != '/')
		directory = directory_name(descriptor, owner);
	return first ? called_name(directory, address, owner) : directory; /* empty: the descriptor's file itself */
}

/* What the current thread waits for that its call's arguments only lead to, once these are described. */
static __always_inline void object_describe(struct ev_sched_switch *e, struct task_struct *task,
					    struct thread_state *thread, enum scratch_owner owner)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 name = 0;

	switch (wait_arguments[e->syscall & (SYSCALLS_MAX - 1)]) {
	case ARGUMENT_FUTEX:
	case ARGUMENT_FUTEX_FLAGS:
		if (!(e->operation & FUTEX_PRIVATE))
			name = place_of(task, thread, owner);
		break;
	case ARGUMENT_PATH:
		name = file_of_path(CURRENT_DIRECTORY, regs->di, owner);
		break;
	case ARGUMENT_PATH_AT:
		name = file_of_path(regs->di, regs->si, owner);
		break;
	}
	if (!name)
		return;
	e->object = name;
	e->flags |= SWITCH_IN_FILE;
}
