/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distinct files that traced processes execute, each with a number, by which the opener holds them.
 * Files are distinguished by what the kernel says of them, device, inode and times, never by their own
 * build-ids or names, which anybody can give to any file.
 * Modules live until modules_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/file_stamp.h"
#include "symbol/elf/build_id.h"
#include "unwind/v8_heap.h"

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,  /* the kernel's code in every process */
	MODULE_JIT,   /* executable memory without a file: code that a program generates */
	MODULE_OTHER, /* only has a name: [vsyscall], [uprobes] */
};

/* What is known about a mapped file; of path, inode and build-id each may be missing. */
struct module_identity {
	uint32_t pid; /* a process that maps it, at start to end; 0: it is known from a trace */
	uint64_t start, end;
	uint64_t device; /* as makedev() gives it; the mapping's, which may not be the file's */
	uint64_t inode;
	struct build_id build_id; /* of a trace */
	const char *path;
};

struct ev_space_map;

/* All but the build-id; the path is the event's. */
struct module_identity module_identity_of(const struct ev_space_map *e);

struct module {
	uint32_t number; /* from 1 on */
	enum module_kind kind;
	const char *path, *name;
	uint32_t hold_count;      /* how often it was opened */
	uint32_t pid;             /* whose file tree the path belongs to */
	uint64_t start, end;      /* where it was mapped there; 0: unknown */
	uint64_t device, inode;   /* the file's if it was opened, else the mapping's; 0: unknown */
	struct build_id build_id; /* what the file says, if anybody has asked: for traces */
	bool has_build_id;        /* somebody has */
	struct file_stamp stamp;  /* of the file when it was opened */
	bool has_stamp;
	bool has_own_numbers; /* its mappings have the numbers of its stamp, and no other file's do */
	uint64_t checked_ns;  /* when its file was last seen to be as its stamp says */
	uint8_t failed_opens;
	uint8_t version; /* how many files with the same numbers and build-id came before */

	/* Owned by the resolver. */
	uint32_t flags;          /* what its answers said of the file: enum answer_flags */
	uint32_t noted_flags;    /* what the user was informed of these */
	uint32_t python_version; /* of the interpreter in it: see table_file.h */
	uint32_t ruby_version;   /* the same */
	uint32_t v8_version;     /* of the V8 in it: see table_file.h */
	struct v8_heap v8_heap;
	bool is_runtime_noted;
	bool is_go;            /* its unwind table says that it is a Go program */
	uint8_t failure_count; /* questions that its file made the worker fail on */
	bool is_over_budget;   /* the last of them was one too many: see budget.h */
};

enum { MODULE_FAILURES_MAX = 2 }; /* without its lines, then without anything */

static inline bool module_has_failed(const struct module *module)
{
	return module->failure_count >= MODULE_FAILURES_MAX;
}

/*
 * Gives the file apart from others in a trace: 48 bits of the XXH64 of device and inode, which the kernel gave,
 * above 16 of that of its build-id, for a file can be written again. Without an inode: XXH64 of its path.
 */
uint64_t module_owner(const struct module *module);

/*
 * The same in traces of before: XXH64 of its build-id, or, when it has none, of its path, with the inode
 * as the seed.
 */
uint64_t module_old_owner(const struct module *module);

struct modules;
struct opener;

/* Borrows opener. */
struct modules *modules_new(struct opener *opener);

/* No file is opened from now on: those here are other ones. */
void modules_shut(struct modules *modules);
void modules_free(struct modules *modules);

/* NULL beyond the bound on distinct files; counted. */
struct module *modules_get(struct modules *modules, const struct module_identity *identity);
struct module *modules_at(const struct modules *modules, uint32_t number);

/* What the file says of itself; of no bytes if it has none. */
void modules_set_build_id(struct modules *modules, struct module *module, const struct build_id *build_id);
