/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/wait_cause.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session/syscalls.h"
#include "values.h"
#include "waits/files.h"

/* Causes, plus one: 0 is what a call has that is not in the table. */
#define IS(cause) ((cause) + 1)

/* Of calls that tell it whatever they are called for. */
static const uint8_t causes[SYSCALLS_MAX] = {
	[SYS_poll] = IS(CAUSE_POLL),
	[SYS_ppoll] = IS(CAUSE_POLL),
	[SYS_select] = IS(CAUSE_POLL),
	[SYS_pselect6] = IS(CAUSE_POLL),
	[SYS_epoll_wait] = IS(CAUSE_POLL),
	[SYS_epoll_pwait] = IS(CAUSE_POLL),
	[SYS_epoll_pwait2] = IS(CAUSE_POLL),
	[SYS_io_uring_enter] = IS(CAUSE_POLL),
	[SYS_io_getevents] = IS(CAUSE_POLL),
	[SYS_io_pgetevents] = IS(CAUSE_POLL),
	[SYS_flock] = IS(CAUSE_LOCK),
	[SYS_semop] = IS(CAUSE_SEMAPHORE),
	[SYS_semtimedop] = IS(CAUSE_SEMAPHORE),
	[SYS_msgrcv] = IS(CAUSE_PIPE),
	[SYS_msgsnd] = IS(CAUSE_PIPE),
	[SYS_mq_timedreceive] = IS(CAUSE_PIPE),
	[SYS_mq_timedsend] = IS(CAUSE_PIPE),
	[SYS_wait4] = IS(CAUSE_CHILD),
	[SYS_waitid] = IS(CAUSE_CHILD),
	[SYS_vfork] = IS(CAUSE_CHILD),
	[SYS_nanosleep] = IS(CAUSE_SLEEP),
	[SYS_clock_nanosleep] = IS(CAUSE_SLEEP),
	[SYS_open] = IS(CAUSE_FILE),
	[SYS_openat] = IS(CAUSE_FILE),
	[SYS_openat2] = IS(CAUSE_FILE),
	[SYS_creat] = IS(CAUSE_FILE),
	[SYS_stat] = IS(CAUSE_FILE),
	[SYS_lstat] = IS(CAUSE_FILE),
	[SYS_newfstatat] = IS(CAUSE_FILE),
	[SYS_statx] = IS(CAUSE_FILE),
	[SYS_access] = IS(CAUSE_FILE),
	[SYS_faccessat] = IS(CAUSE_FILE),
	[SYS_faccessat2] = IS(CAUSE_FILE),
	[SYS_unlink] = IS(CAUSE_FILE),
	[SYS_unlinkat] = IS(CAUSE_FILE),
	[SYS_rename] = IS(CAUSE_FILE),
	[SYS_renameat] = IS(CAUSE_FILE),
	[SYS_renameat2] = IS(CAUSE_FILE),
	[SYS_mkdir] = IS(CAUSE_FILE),
	[SYS_mkdirat] = IS(CAUSE_FILE),
	[SYS_rmdir] = IS(CAUSE_FILE),
	[SYS_link] = IS(CAUSE_FILE),
	[SYS_linkat] = IS(CAUSE_FILE),
	[SYS_symlink] = IS(CAUSE_FILE),
	[SYS_symlinkat] = IS(CAUSE_FILE),
	[SYS_readlink] = IS(CAUSE_FILE),
	[SYS_readlinkat] = IS(CAUSE_FILE),
	[SYS_truncate] = IS(CAUSE_FILE),
	[SYS_chmod] = IS(CAUSE_FILE),
	[SYS_fchmodat] = IS(CAUSE_FILE),
	[SYS_chown] = IS(CAUSE_FILE),
	[SYS_fchownat] = IS(CAUSE_FILE),
	[SYS_utimensat] = IS(CAUSE_FILE),
	[SYS_execve] = IS(CAUSE_FILE),
	[SYS_execveat] = IS(CAUSE_FILE),
	[SYS_msync] = IS(CAUSE_FILE),
	[SYS_sync] = IS(CAUSE_FILE),
	[SYS_mount] = IS(CAUSE_FILE),
	[SYS_umount2] = IS(CAUSE_FILE),
	[SYS_swapon] = IS(CAUSE_FILE),
};

/* Of waitid(), what wait4() would have been given. */
static uint64_t object_of(const struct ev_sched_switch *e)
{
	if (e->syscall == SYS_waitid)
		return e->object == P_PID ? e->value : 0;
	return e->object;
}

struct wait_facts wait_facts_of(const struct ev_sched_switch *e)
{
	struct wait_facts facts = {
		.object = object_of(e),
		.value = e->value,
		.owners = { e->owners[0], e->owners[1], e->owners[2] },
		.syscall = e->syscall,
		.operation = e->operation,
		.state = e->state,
		.flags = e->flags,
	};

	if (wait_has_futex(&facts)) {
		facts.is_endless = e->operation & FUTEX_WITHOUT_LIMIT;
		facts.operation &= ~FUTEX_WITHOUT_LIMIT;
	}
	return facts;
}

struct wait_facts wait_facts_of_work(void)
{
	return (struct wait_facts){
		.syscall = SYSCALL_NONE,
		.value = MEMORY_NONE,
		.state = SWITCH_BLOCKED,
	};
}

bool wait_has_klock(const struct wait_facts *facts)
{
	return facts->flags & SWITCH_KERNEL_LOCK;
}

bool wait_has_futex(const struct wait_facts *facts)
{
	enum wait_argument argument = syscall_argument(facts->syscall);

	if (wait_has_klock(facts))
		return false;
	return argument == ARGUMENT_FUTEX || argument == ARGUMENT_FUTEX_FLAGS || argument == ARGUMENT_FUTEX_VECTOR;
}

bool wait_is_in_file(const struct wait_facts *facts)
{
	return facts->flags & SWITCH_IN_FILE && wait_has_futex(facts);
}

uint32_t wait_futex_command(const struct wait_facts *facts)
{
	return syscall_argument(facts->syscall) == ARGUMENT_FUTEX ? facts->operation & FUTEX_CMD_MASK : FUTEX_WAIT;
}

static bool is_fault(const struct wait_facts *facts)
{
	return facts->syscall == SYSCALL_NONE && facts->state == SWITCH_BLOCKED && facts->value != MEMORY_NONE &&
	       !(facts->flags & (SWITCH_COMPAT | SWITCH_KERNEL_LOCK));
}

/* A thread of the kernel that works for a process: of io_uring or vhost. */
static bool is_worker(const struct wait_facts *facts)
{
	return facts->syscall == SYSCALL_NONE && facts->value == MEMORY_NONE &&
	       (facts->state == SWITCH_BLOCKED || facts->state == SWITCH_SLEEPING) &&
	       !(facts->flags & (SWITCH_COMPAT | SWITCH_KERNEL_LOCK));
}

bool wait_has_file(const struct wait_facts *facts)
{
	if (wait_has_klock(facts))
		return false;
	switch (syscall_argument(facts->syscall)) {
	case ARGUMENT_FILE:
	case ARGUMENT_FILE_PARTS:
	case ARGUMENT_FILE_MESSAGE:
	case ARGUMENT_POLL:
	case ARGUMENT_POLL_TIME:
		return true;
	case ARGUMENT_PATH:
	case ARGUMENT_PATH_AT:
		return facts->flags & SWITCH_IN_FILE;
	default:
		return is_worker(facts) ? facts->object : is_fault(facts) && facts->value == MEMORY_OF_FILE;
	}
}

bool wait_is_for_lock(const struct wait_facts *facts, enum wait_cause cause)
{
	if (wait_has_futex(facts) || wait_has_klock(facts))
		return true;
	return cause == CAUSE_LOCK || cause == CAUSE_SEMAPHORE;
}

bool wait_is_on_memory(const struct wait_facts *facts)
{
	return is_fault(facts) && facts->value == MEMORY_ANONYMOUS;
}

/*
 * glibc joins a thread by the word that the kernel clears at its end, which is shared with the
 * kernel: the operation is not private, unlike a condition's or a semaphore's.
 */
static enum wait_cause futex_cause(const struct wait_facts *facts)
{
	bool is_private = facts->operation & FUTEX_PRIVATE_FLAG;

	switch (wait_futex_command(facts)) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return CAUSE_LOCK;
	case FUTEX_WAIT_BITSET:
		return !is_private && facts->value > 1 ? CAUSE_JOIN : CAUSE_CONDITION;
	case FUTEX_WAIT_REQUEUE_PI:
		return CAUSE_CONDITION;
	}
	return CAUSE_OTHER; /* it came to wake */
}

static bool is_lock_command(uint32_t operation)
{
	return operation == F_SETLKW || operation == F_OFD_SETLKW;
}

static enum wait_cause file_cause(const struct wait_facts *facts, const struct file_info *file)
{
	if (facts->syscall == SYS_fcntl && is_lock_command(facts->operation))
		return CAUSE_LOCK;
	switch (file ? file->kind : file_kind_of_name(facts->object)) {
	case FILE_SOCKET:
		return CAUSE_SOCKET;
	case FILE_PIPE:
	case FILE_EVENT:
	case FILE_TERMINAL:
		return CAUSE_PIPE;
	case FILE_TIMER:
		return CAUSE_SLEEP;
	case FILE_POLL:
		return CAUSE_POLL;
	default:
		return CAUSE_FILE;
	}
}

/* To poll one socket is to wait for it. */
static bool is_poll_of_socket(const struct wait_facts *facts, const struct file_info *file)
{
	if (facts->syscall != SYS_poll && facts->syscall != SYS_ppoll)
		return false;
	return facts->object && (file ? file->kind : file_kind_of_name(facts->object)) == FILE_SOCKET;
}

/* What nothing can interrupt is for a file, whether or not it is known; else it waits for something to do. */
static enum wait_cause worker_cause(const struct wait_facts *facts, const struct file_info *file)
{
	if (facts->object)
		return file_cause(facts, file);
	return facts->state == SWITCH_BLOCKED ? CAUSE_FILE : CAUSE_OTHER;
}

bool wait_is_for_work(const struct wait_facts *facts)
{
	return is_worker(facts) && !facts->object && facts->state == SWITCH_SLEEPING;
}

enum wait_cause wait_cause_of(const struct wait_facts *facts, const struct file_info *file)
{
	uint8_t cause;

	if (facts->state == SWITCH_RUNNABLE)
		return facts->flags & SWITCH_THROTTLED ? CAUSE_THROTTLED : CAUSE_PREEMPTED;
	if (facts->state == SWITCH_DEAD)
		return CAUSE_EXIT;
	if (facts->state == SWITCH_STOPPED)
		return CAUSE_STOPPED;
	if (wait_has_klock(facts))
		return CAUSE_KERNEL_LOCK;
	if (facts->flags & SWITCH_COMPAT)
		return CAUSE_OTHER;
	if (is_worker(facts))
		return worker_cause(facts, file);
	if (facts->syscall == SYSCALL_NONE)
		return is_fault(facts) ? CAUSE_PAGE_FAULT : CAUSE_OTHER;
	if (wait_has_futex(facts))
		return futex_cause(facts);
	if (is_poll_of_socket(facts, file))
		return CAUSE_SOCKET;
	cause = facts->syscall < SYSCALLS_MAX ? causes[facts->syscall] : 0;
	if (cause)
		return cause - 1;
	if (wait_has_file(facts))
		return file_cause(facts, file);
	return CAUSE_OTHER;
}
