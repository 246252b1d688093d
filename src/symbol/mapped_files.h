/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files the traced processes have mapped, where and since when: by the space.* events of a
 * session, and by /proc/PID/maps for what was there before, or has no event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MAPPINGS_MAX = 200000 }; /* of all processes, with their address spaces */

struct jit_names;
struct mapped_files;
struct modules;
struct notes;
struct opener;
struct session;
struct space_hit;
struct spaces;
struct worker;

/* Subscribes to session; all are borrowed. */
struct mapped_files *mapped_files_new(struct session *session, struct opener *opener, struct worker *worker,
				      struct notes *notes);
void mapped_files_free(struct mapped_files *files);

/* The events come from a recording: the processes on this machine are other ones. */
void mapped_files_set_offline(struct mapped_files *files);

/* What it keeps: the address spaces, their files, the names that JIT compilers gave. */
struct spaces *mapped_files_spaces(struct mapped_files *files);
struct modules *mapped_files_modules(struct mapped_files *files);
struct jit_names *mapped_files_jit(struct mapped_files *files);

/* The process has written the symbol file of its JIT compiler: it is read. */
void mapped_files_renew_jit(struct mapped_files *files, uint32_t pid);

/* Takes in the mappings that a process has already. 0, or the errno of its maps file. */
int mapped_files_add(struct mapped_files *files, uint32_t pid);

/*
 * An event may have been lost, or the mapping made in a way that has none: reads the maps file once
 * more, though not too often. Whether it did.
 */
bool mapped_files_read_again(struct mapped_files *files, uint32_t pid);

/* What was mapped there, reading again if need be; false: nothing is known. */
bool mapped_files_find(struct mapped_files *files, uint32_t pid, uint64_t time_ns, uint64_t address,
		       struct space_hit *hit);
