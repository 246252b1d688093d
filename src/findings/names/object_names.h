/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads wait for, by name: variables that hold locks, files, the other ends of sockets. */
#pragma once

#include <stdint.h>

#include "waits/wait_cause.h"

struct arena;
struct file_info;
struct files;
struct klocks;
struct symbols;

/* arena: what owns the names. */
struct object_names {
	struct symbols *symbols;
	const struct files *files;
	const struct klocks *klocks; /* NULL: none are known */
	struct arena *arena;
};

/* The variable at an address; NULL when there is none. */
const char *object_name_of_lock(const struct object_names *names, uint32_t pid, uint64_t time_ns, uint64_t address);

/*
 * A file's path, unless there was no space for it. Of a socket, the end that stays the same from one
 * connection to the next: a server's own, and a client's peer. NULL: it is unknown.
 */
const char *object_name_of_file(const struct file_info *file);

/* "semaphore set 5"; NULL when the call is on something else. */
const char *object_name_of_ipc(const struct object_names *names, const struct wait_facts *facts, uint64_t object);

/*
 * A kernel lock by what it is part of: "mmap_lock of mariadbd", "i_rwsem of /var/log/x", "run queue of
 * CPU 1". NULL: that is unknown.
 */
const char *object_name_of_klock(const struct object_names *names, uint64_t lock);

/*
 * What the facts are about; a socket's peer with its host. cause: by the facts, and with what names of
 * functions say. NULL: it is unknown, or it leads to others only, as an epoll's file does.
 */
const char *object_name(const struct object_names *names, uint32_t pid, uint64_t time_ns,
			const struct wait_facts *facts, enum wait_cause cause, enum wait_cause named_cause);
