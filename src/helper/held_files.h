/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that traced processes map, by the number that the tool gave them. Each is opened when it is seen
 * and stays so while there are descriptors to spare: by the time that somebody asks for a name in it, it can
 * be deleted, replaced or out of sight.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/file_stamp.h"

struct held_files;
struct opener_request;

struct held_files *held_files_new(void);

/*
 * 0, and what the file is like; -ESTALE: another file lies at its path by now; or the errno of opening it.
 */
int held_files_add(struct held_files *files, const struct opener_request *request, struct file_stamp *stamp);
void held_files_drop(struct held_files *files, uint32_t number);

/* What the file is like now. 0; -ENOENT: it is not held open. */
int held_files_stamp(const struct held_files *files, uint32_t number, struct file_stamp *stamp);

/*
 * A descriptor of the file, or a negative errno; -ESTALE: it has been replaced, or written again. *is_own: the
 * caller's to close, for it is not held.
 */
int held_files_open(struct held_files *files, uint32_t number, bool *is_own);

/*
 * The same, -EXDEV unless the file lies on a file system of this machine, mounted by root, which answers
 * whatever programs do. pid: a process that maps the file.
 */
int held_files_open_local(struct held_files *files, uint32_t number, uint32_t pid, bool *is_own);

/* What the file was like when it was first opened, and in whose file tree, unless that is skipped. 0; -ENOENT: it never was open. */
int held_files_known(const struct held_files *files, uint32_t number, struct file_stamp *stamp, uint32_t *pid,
		     bool *skips_tree);

/* Whether reading the open file, which pid has, never takes long, whatever programs do: as held_files_open_local() has it. */
bool held_file_is_local(int fd, uint32_t pid);
