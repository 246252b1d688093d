/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file an open descriptor leads to, and since when it is as it is: what the kernel says of it, never
 * what it says of itself. Device and inode are the file's own as long as somebody has it open; the time of
 * its last change is set by the kernel's clock alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stat;

struct file_stamp {
	uint64_t device; /* as makedev() gives it */
	uint64_t inode;
	uint64_t size_bytes;
	int64_t modified_ns;        /* since 1970; its owner may set it */
	int64_t changed_ns;         /* since 1970, of contents, owner, mode, or links to it */
	uint32_t owner;             /* user id, in the initial namespace */
	uint16_t is_owner_doubtful; /* who mounted its file system could choose the owner */
	uint16_t is_overlay;        /* it may be shown under other devices, too */
};

/* 0, or -errno. */
int file_stamp_read(int fd, struct file_stamp *stamp);

/* The same file, and nothing about it has changed. */
bool file_stamp_is_same(const struct file_stamp *a, const struct file_stamp *b);

/* The same file with the same contents, if whoever may write to it does not hide that: it may have new links. */
bool file_stamp_has_same_contents(const struct file_stamp *a, const struct file_stamp *b);

/*
 * The same for all views of the file that the kernel puts one and the same probe into: overlays show a file
 * of a layer that they share with its inode, size and times, each under a device of its own.
 */
uint64_t file_stamp_probe_key(const struct file_stamp *stamp);

/* Root or this user has made the file. */
bool file_stamp_is_owned(const struct file_stamp *stamp, uint32_t user);

/*
 * Whether what this file says of the program may be believed: root made it, or whoever made the program,
 * who could have written it there.
 */
bool file_stamp_may_describe(const struct file_stamp *stamp, const struct file_stamp *program);
