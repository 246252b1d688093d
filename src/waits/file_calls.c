/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/file_calls.h"

#include <poll.h>
#include <sys/syscall.h>

#include "values.h"
#include "waits/wait_cause.h"

/*
 * Where a call has its count of bytes: in which of sched.SWITCH.owners, plus one. Of what is read or
 * written in parts their sum is there.
 */
enum { NO_COUNT, THIRD, FOURTH, FIFTH, SUM = THIRD };

static const struct {
	uint8_t direction, count;
} calls[SYSCALLS_MAX] = {
	[SYS_read] = { FILE_READING, THIRD },
	[SYS_pread64] = { FILE_READING, THIRD },
	[SYS_readv] = { FILE_READING, SUM },
	[SYS_preadv] = { FILE_READING, SUM },
	[SYS_preadv2] = { FILE_READING, SUM },
	[SYS_recvfrom] = { FILE_READING, THIRD },
	[SYS_recvmsg] = { FILE_READING, SUM },
	[SYS_recvmmsg] = { FILE_READING, NO_COUNT }, /* several messages */
	[SYS_getdents] = { FILE_READING, NO_COUNT }, /* how much room there is */
	[SYS_getdents64] = { FILE_READING, NO_COUNT },
	[SYS_readahead] = { FILE_READING, THIRD },
	[SYS_mq_timedreceive] = { FILE_READING, NO_COUNT },
	[SYS_splice] = { FILE_READING, FIFTH }, /* the first descriptor is what is read */
	[SYS_tee] = { FILE_READING, THIRD },
	[SYS_copy_file_range] = { FILE_READING, FIFTH },
	[SYS_write] = { FILE_WRITING, THIRD },
	[SYS_pwrite64] = { FILE_WRITING, THIRD },
	[SYS_writev] = { FILE_WRITING, SUM },
	[SYS_pwritev] = { FILE_WRITING, SUM },
	[SYS_pwritev2] = { FILE_WRITING, SUM },
	[SYS_sendto] = { FILE_WRITING, THIRD },
	[SYS_sendmsg] = { FILE_WRITING, SUM },
	[SYS_sendmmsg] = { FILE_WRITING, NO_COUNT },
	[SYS_sendfile] = { FILE_WRITING, FOURTH }, /* the first one is what is written */
	[SYS_vmsplice] = { FILE_WRITING, SUM },
	[SYS_mq_timedsend] = { FILE_WRITING, THIRD },
	[SYS_fsync] = { FILE_WRITING, NO_COUNT },
	[SYS_fdatasync] = { FILE_WRITING, NO_COUNT },
	[SYS_sync_file_range] = { FILE_WRITING, NO_COUNT },
	[SYS_syncfs] = { FILE_WRITING, NO_COUNT },
	[SYS_ftruncate] = { FILE_WRITING, NO_COUNT },
	[SYS_fallocate] = { FILE_WRITING, NO_COUNT },
};

enum file_direction file_direction_of(const struct wait_facts *facts)
{
	return facts->syscall < SYSCALLS_MAX ? calls[facts->syscall].direction : FILE_NEITHER;
}

enum file_direction file_waited_direction(const struct wait_facts *facts)
{
	if (facts->syscall != SYS_poll && facts->syscall != SYS_ppoll)
		return file_direction_of(facts);
	if (!facts->object)
		return FILE_NEITHER;
	if (facts->owners[0] & POLLIN)
		return FILE_READING;
	return facts->owners[0] & POLLOUT ? FILE_WRITING : FILE_NEITHER;
}

bool file_asked_bytes(const struct wait_facts *facts, uint64_t *bytes)
{
	uint8_t count = facts->syscall < SYSCALLS_MAX ? calls[facts->syscall].count : NO_COUNT;

	if (count == NO_COUNT || !facts->owners[count - 1])
		return false;
	*bytes = facts->owners[count - 1];
	return true;
}
