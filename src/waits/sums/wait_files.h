/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and sockets that were waited for, who waited, and who ended it: of a pipe or a connection that
 * is the other end. Owns the rows, which stay until wait_files_free().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "waits/files.h"
#include "waits/sums/ended_wait.h"

struct journal;
struct wait_files;

struct wait_files *wait_files_new(void);
void wait_files_free(struct wait_files *files);

/* kind: of the file that was waited for. Returns its row. */
struct wait_file *wait_files_end(struct wait_files *files, const struct thread *thread, struct open_wait *wait,
				 enum file_kind kind, uint64_t wait_ns, uint64_t idle_ns, const struct wait_end *end);

/* The same for an open wait: the journal can undo it. */
void wait_files_count_open(struct wait_files *files, const struct thread *thread, struct open_wait *wait,
			   uint64_t wait_ns, uint64_t idle_ns, struct journal *journal);
/* At now_ns an answer has come to a connection. Returns when the one before did; 0: there was none. */
uint64_t wait_files_answered(struct wait_files *files, uint64_t name, uint64_t now_ns);

const struct wait_file *wait_files_next(const struct wait_files *files, size_t *cursor);
