/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has files opened and processes examined by the opener. What it needs no answer to is only sent; what it
 * does not answer in a second, because the process or its file system does not let it, it is not asked again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/file_stamp.h"
#include "helper/maps_file.h"
#include "helper/process_use.h"

struct helper_pair;
struct opener;

/* A mapped file: of path, inode and place each may be missing. */
struct opener_file {
	uint32_t number; /* how it is called from now on; from 1 on */
	uint32_t pid;    /* a process that maps it, at start to end */
	uint64_t start, end;
	uint64_t device, inode;
	const char *path;
};

/*
 * Borrows pair. on_stuck: called with the process that is not examined any more; path: or only a file that
 * it maps, NULL: none.
 */
struct opener *opener_new(struct helper_pair *pair, void (*on_stuck)(void *data, uint32_t pid, const char *path),
			  void *data);
void opener_free(struct opener *opener);

/*
 * Opens the file and holds it. 0, and what it is like; -ESTALE: another one is in its place; -ETIMEDOUT: its
 * file system does not answer; or the errno of opening it.
 */
int opener_hold(struct opener *opener, const struct opener_file *file, struct file_stamp *stamp);

/* Whether the present opener was given the file that is called number. */
bool opener_holds(const struct opener *opener, uint32_t number);

/* What the file, of this device, is like now, which pid maps. 0; -ENOENT: it is not held open; -ETIMEDOUT. */
int opener_stamp(struct opener *opener, uint32_t number, uint64_t device, uint32_t pid, struct file_stamp *stamp);

/* Holds it no longer. */
void opener_drop(struct opener *opener, uint32_t number);

/* Notes where the process's JIT compiler writes names: for the space number. */
void opener_find_jit(struct opener *opener, uint32_t number, uint32_t pid);
bool opener_knows_jit(const struct opener *opener, uint32_t number);
void opener_forget_jit(struct opener *opener, uint32_t number);

/* The worker may read the memory of the process. -ETIMEDOUT: it does not let itself be read. */
int opener_allow_memory(struct opener *opener, uint32_t pid);

/* The worker was stuck, reading the memory of this process. */
void opener_distrust(struct opener *opener, uint32_t pid);

/* It was stuck, reading a file of this device, which the process maps. */
void opener_distrust_file(struct opener *opener, uint64_t device, uint32_t pid, const char *path);

/* It was stuck, most likely because of a debug file in the file tree of this process. False: it knew. */
bool opener_distrust_tree(struct opener *opener, uint32_t pid);

/*
 * Calls on_each for each executable mapping of a process: at once, or within a second. 0, or -errno:
 * -ETIMEDOUT if the process does not let itself be examined; -E2BIG: there are more, which are not listed.
 */
int opener_read_maps(struct opener *opener, uint32_t pid,
		     void (*on_each)(void *data, const struct file_mapping *mapping), void *data);

enum { PROCESS_WORDS_BYTES = 4096 };

/* What the kernel says of a process; empty where it says nothing. */
struct process_words {
	char line[PROCESS_WORDS_BYTES]; /* its command line, with a line's end between words */
	char path[PROCESS_WORDS_BYTES]; /* of the file that it executes */
	char name[16];
};

/* 0 or -errno: it has ended, or cannot be examined. */
int opener_read_words(struct opener *opener, uint32_t pid, struct process_words *words);

/*
 * Calls on_each for what processes of the machine have used; it may not ask the opener. 0, or -errno: of some there is no
 * answer.
 */
int opener_read_use(struct opener *opener, void (*on_each)(void *data, const struct process_use *use), void *data);

/* Whether nothing of this process is examined: its user, or it itself, has cost too many helpers. */
bool opener_refuses(const struct opener *opener, uint32_t pid);

/*
 * Called while an answer is waited for and the opener does what the worker wants: may give both up, and must if
 * is_late, and asks nothing. Returns false: the worker has no question that it could want that for.
 */
void opener_on_worker(struct opener *opener, bool (*on_worker)(void *data, bool is_late), void *data);

/*
 * A descriptor of a file that is held, to put a probe there; the caller's. -EXDEV: the file lies where
 * reading it could take for ever. Others as those of opening it.
 */
int opener_give(struct opener *opener, uint32_t number, uint32_t pid);

/*
 * A descriptor to read the area of that number, from 0 on, that the process has mapped: its own, or one of the process it was
 * forked from; the caller's. -ENOENT: it has no more. Others as those of opening it.
 */
int opener_give_area(struct opener *opener, uint32_t pid, uint32_t number);

/* Takes answers that came. To be called often, for it also finds out that none comes. */
void opener_step(struct opener *opener);
