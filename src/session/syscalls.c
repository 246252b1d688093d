/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

/* Newer than the headers that we build with; the same on all architectures. */
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

static const char *const names[SYSCALLS_MAX] = {
#include "syscall_names.inc"
};

static const uint8_t arguments[SYSCALLS_MAX] = {
	[SYS_futex] = ARGUMENT_FUTEX,
	[SYS_futex_wait] = ARGUMENT_FUTEX_FLAGS,
	[SYS_futex_waitv] = ARGUMENT_FUTEX_VECTOR,
	[SYS_restart_syscall] = ARGUMENT_RESTART,
	[SYS_nanosleep] = ARGUMENT_TIME,
	[SYS_clock_nanosleep] = ARGUMENT_TIME,
	[SYS_poll] = ARGUMENT_POLL,
	[SYS_ppoll] = ARGUMENT_POLL_TIME,
	[SYS_read] = ARGUMENT_FILE,
	[SYS_write] = ARGUMENT_FILE,
	[SYS_readv] = ARGUMENT_FILE_PARTS,
	[SYS_writev] = ARGUMENT_FILE_PARTS,
	[SYS_pread64] = ARGUMENT_FILE,
	[SYS_pwrite64] = ARGUMENT_FILE,
	[SYS_preadv] = ARGUMENT_FILE_PARTS,
	[SYS_pwritev] = ARGUMENT_FILE_PARTS,
	[SYS_preadv2] = ARGUMENT_FILE_PARTS,
	[SYS_pwritev2] = ARGUMENT_FILE_PARTS,
	[SYS_close] = ARGUMENT_FILE,
	[SYS_fstat] = ARGUMENT_FILE,
	[SYS_lseek] = ARGUMENT_FILE,
	[SYS_ioctl] = ARGUMENT_FILE,
	[SYS_fcntl] = ARGUMENT_FILE,
	[SYS_flock] = ARGUMENT_FILE,
	[SYS_fsync] = ARGUMENT_FILE,
	[SYS_fdatasync] = ARGUMENT_FILE,
	[SYS_sync_file_range] = ARGUMENT_FILE,
	[SYS_syncfs] = ARGUMENT_FILE,
	[SYS_ftruncate] = ARGUMENT_FILE,
	[SYS_fallocate] = ARGUMENT_FILE,
	[SYS_readahead] = ARGUMENT_FILE,
	[SYS_fadvise64] = ARGUMENT_FILE,
	[SYS_getdents] = ARGUMENT_FILE,
	[SYS_getdents64] = ARGUMENT_FILE,
	[SYS_fchmod] = ARGUMENT_FILE,
	[SYS_fchown] = ARGUMENT_FILE,
	[SYS_sendfile] = ARGUMENT_FILE,
	[SYS_splice] = ARGUMENT_FILE,
	[SYS_tee] = ARGUMENT_FILE,
	[SYS_vmsplice] = ARGUMENT_FILE_PARTS,
	[SYS_copy_file_range] = ARGUMENT_FILE,
	[SYS_connect] = ARGUMENT_FILE,
	[SYS_accept] = ARGUMENT_FILE,
	[SYS_accept4] = ARGUMENT_FILE,
	[SYS_sendto] = ARGUMENT_FILE,
	[SYS_recvfrom] = ARGUMENT_FILE,
	[SYS_sendmsg] = ARGUMENT_FILE_MESSAGE,
	[SYS_recvmsg] = ARGUMENT_FILE_MESSAGE,
	[SYS_sendmmsg] = ARGUMENT_FILE,
	[SYS_recvmmsg] = ARGUMENT_FILE,
	[SYS_shutdown] = ARGUMENT_FILE,
	[SYS_epoll_wait] = ARGUMENT_FILE,
	[SYS_epoll_pwait] = ARGUMENT_FILE,
	[SYS_epoll_pwait2] = ARGUMENT_FILE,
	[SYS_io_uring_enter] = ARGUMENT_FILE,
	[SYS_mq_timedsend] = ARGUMENT_FILE,
	[SYS_mq_timedreceive] = ARGUMENT_FILE,
	/* Of two paths, the first. */
	[SYS_open] = ARGUMENT_PATH,
	[SYS_creat] = ARGUMENT_PATH,
	[SYS_stat] = ARGUMENT_PATH,
	[SYS_lstat] = ARGUMENT_PATH,
	[SYS_access] = ARGUMENT_PATH,
	[SYS_unlink] = ARGUMENT_PATH,
	[SYS_mkdir] = ARGUMENT_PATH,
	[SYS_rmdir] = ARGUMENT_PATH,
	[SYS_rename] = ARGUMENT_PATH,
	[SYS_link] = ARGUMENT_PATH,
	[SYS_readlink] = ARGUMENT_PATH,
	[SYS_truncate] = ARGUMENT_PATH,
	[SYS_chmod] = ARGUMENT_PATH,
	[SYS_chown] = ARGUMENT_PATH,
	[SYS_execve] = ARGUMENT_PATH,
	[SYS_swapon] = ARGUMENT_PATH,
	[SYS_umount2] = ARGUMENT_PATH,
	[SYS_chdir] = ARGUMENT_PATH,
	[SYS_openat] = ARGUMENT_PATH_AT,
	[SYS_openat2] = ARGUMENT_PATH_AT,
	[SYS_newfstatat] = ARGUMENT_PATH_AT,
	[SYS_statx] = ARGUMENT_PATH_AT,
	[SYS_faccessat] = ARGUMENT_PATH_AT,
	[SYS_faccessat2] = ARGUMENT_PATH_AT,
	[SYS_unlinkat] = ARGUMENT_PATH_AT,
	[SYS_renameat] = ARGUMENT_PATH_AT,
	[SYS_renameat2] = ARGUMENT_PATH_AT,
	[SYS_mkdirat] = ARGUMENT_PATH_AT,
	[SYS_linkat] = ARGUMENT_PATH_AT,
	[SYS_readlinkat] = ARGUMENT_PATH_AT,
	[SYS_fchmodat] = ARGUMENT_PATH_AT,
	[SYS_fchownat] = ARGUMENT_PATH_AT,
	[SYS_utimensat] = ARGUMENT_PATH_AT,
	[SYS_execveat] = ARGUMENT_PATH_AT,
};

static const uint8_t polls[SYSCALLS_MAX] = {
	[SYS_epoll_wait] = POLL_EPOLL,    [SYS_epoll_pwait] = POLL_EPOLL, [SYS_epoll_pwait2] = POLL_EPOLL,
	[SYS_io_uring_enter] = POLL_RING, [SYS_poll] = POLL_LIST,         [SYS_ppoll] = POLL_LIST,
	[SYS_select] = POLL_SELECT,       [SYS_pselect6] = POLL_SELECT,
};

const char *syscall_name(uint32_t number)
{
	return number < SYSCALLS_MAX ? names[number] : NULL;
}

enum wait_argument syscall_argument(uint32_t number)
{
	return number < SYSCALLS_MAX ? arguments[number] : ARGUMENT_PLAIN;
}

enum poll_kind syscall_poll(uint32_t number)
{
	return number < SYSCALLS_MAX ? polls[number] : POLL_NONE;
}

bool syscall_waits_for_file(uint16_t syscall, uint32_t value)
{
	if (syscall == SYSCALL_NONE)
		return value == MEMORY_OF_FILE || value == MEMORY_NONE;
	switch (syscall_argument(syscall)) {
	case ARGUMENT_FILE:
	case ARGUMENT_FILE_PARTS:
	case ARGUMENT_FILE_MESSAGE:
	case ARGUMENT_POLL:
	case ARGUMENT_POLL_TIME:
		return true;
	default:
		return false;
	}
}
