/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that the worker reads, by their modules' numbers. Those that were used least recently are closed to
 * save memory, and opened again when they are asked about.
 */
#pragma once

#include <stdint.h>

#include "helper/spawner.h"

struct object;
struct question;
struct worker_file;
struct worker_files;

/* Before the process is confined; borrows the sockets. It is never freed. */
struct worker_files *worker_files_new(const struct helper_sockets *sockets);

/* The process has what it begins with: memory that comes from now on is for files. */
void worker_files_begin(struct worker_files *files);

/* The file that the question is about; NULL: nobody has said which that is. */
struct worker_file *worker_files_get(struct worker_files *files, const struct question *question);

/* 0 and the object, valid until memory is saved; or why the file cannot be opened. */
int worker_files_open(struct worker_files *files, struct worker_file *file, struct object **object);

/* Closes files until memory is within its bounds; the current one last. */
void worker_files_save_memory(struct worker_files *files, struct worker_file *current);

/* An answer may take so much besides what there is; 0: the default. */
void worker_files_limit_memory(struct worker_files *files, uint32_t memory_mb_max);
