/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the opening of an output and its being put in place share. */
#pragma once

#include <stdbool.h>

#include "base/out/out_path.h"
#include "base/out/out_temporary.h"

enum out_kind {
	OUT_DESCRIPTOR,  /* open already */
	OUT_SPECIAL,     /* a FIFO or a device */
	OUT_REPLACED,    /* a new file takes the place of what there may be */
	OUT_OVERWRITTEN, /* no new file can be made there */
};

struct out_file {
	enum out_kind kind;
	unsigned int flags;
	struct out_path path;
	int fd;                                   /* what is written; -1: not begun */
	int old_fd;                               /* what is replaced, locked, or overwritten; -1: nothing */
	char temporary[OUT_TEMPORARY_NAME_BYTES]; /* fd's name, until it is committed; "": it has none */
	bool is_shown;                            /* not committed, and has its name already */
	bool is_committed;
};

/* Opens the inode that a descriptor has, whatever bears its name by now. A descriptor, or a negative errno. */
int out_file_reopen(int fd, int flags);

/* Nobody else can have put our file there under another name, or can take it away. */
bool out_file_is_ours(const struct out_path *path);

/* 0, -EBUSY: somebody else has it locked; or another negative errno. */
int out_file_lock(int fd);

/*
 * Nobody else must be writing what bears the name, if it is to be locked; nor can anybody begin to, as long as
 * the file is open. 0, -EBUSY or another negative errno.
 */
int out_file_lock_old(struct out_file *file);

/* Whether it is one that out_file_keep() was given. */
bool out_file_is_kept(const struct stat *status);
