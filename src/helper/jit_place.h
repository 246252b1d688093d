/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process's JIT compiler writes the names of its code: /tmp/perf-PID.map, or a jit-PID.dump that
 * the process has mapped. Good after the process's end, too, when some write it.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct jit_place {
	uint32_t pid;     /* 0: unknown */
	uint32_t own_pid; /* in its own PID namespace */
	uid_t uid;        /* its effective user, as this process sees it */
	gid_t gid;        /* the group of files that it makes */
	int root_fd;      /* its file tree */
};

/* For a living process; the place stays what it was when there is none. 0 or a negative errno. */
int jit_place_find(uint32_t pid, struct jit_place *place);
void jit_place_close(struct jit_place *place);

/*
 * A descriptor of the file, the caller's. -ENOENT: there is none; -EPERM: it is no regular file of the
 * process's user alone, so that somebody else could have chosen the names in it; -EKEYREJECTED: it is, but
 * others may write to it.
 */
int jit_place_open(const struct jit_place *place);
