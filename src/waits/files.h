/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files and sockets that threads wait for, as file.PATH and file.SOCKET name them. Owns them;
 * they stay until files_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct files;

enum file_kind {
	FILE_REGULAR,
	FILE_DIRECTORY,
	FILE_DEVICE, /* a block device or any other */
	FILE_PIPE,   /* with a name or without */
	FILE_SOCKET,
	FILE_POLL,  /* epoll, io_uring, inotify */
	FILE_EVENT, /* eventfd */
	FILE_TIMER, /* timerfd */
	FILE_TERMINAL,
	FILE_MEMORY, /* a place in a file that is mapped */
};

struct file_info {
	uint64_t file;
	enum file_kind kind;
	uint64_t inode;
	uint32_t major, minor;
	bool is_deleted;
	const char *path; /* "pipe:[17]" when it has none; bytes are the program's */
	/* Of a socket, else zeros. */
	uint16_t family, type;
	const char *local, *peer; /* "127.0.0.1:80", "[::1]:80"; of a Unix socket its path */
	uint8_t peer_address[16]; /* of IPv6, or as that maps IPv4 */
	const char *host;         /* see files_host() */
	bool is_loopback;         /* both ends are on this machine */
	bool is_server;           /* the end that others connect to */
	uint32_t peer_pid;
	const char *peer_process; /* its name; empty: unknown */
	uint64_t peer_inode;
};

struct files *files_new(struct session *session, size_t files_max);
void files_free(struct files *files);

/* NULL when it was never recorded, or was one too many. */
const struct file_info *files_find(const struct files *files, uint64_t file);

/*
 * The name that the program had resolved to a socket's peer when it first waited for it, or resolved
 * later; NULL: none.
 */
const char *files_host(const struct files *files, const struct file_info *info);

/* What its name alone tells (events/file.pleco). */
enum file_kind file_kind_of_name(uint64_t file);

/* The same, or better if it was recorded. */
enum file_kind files_kind(const struct files *files, uint64_t file);
