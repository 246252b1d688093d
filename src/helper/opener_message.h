/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the opener: by the tool, which numbers its requests, and by the worker. */
#pragma once

#include <stdint.h>

#include "helper/file_stamp.h"
#include "helper/spawner.h"

enum {
	OPENER_PATH_BYTES = 4096,
	OPENER_MEMORY_BYTES = 65536, /* that are read of a process at once */
	OPENER_PIECES_MAX = 128,     /* of memory that are read at once; a multiple of 8 */
};

/* What the process is called, and while it does what the worker wants: so that the tool sees what it is stuck at. */
#define OPENER_NAME "pinch-opener"
#define OPENER_NAME_FOR_WORKER "pinch-opener w"

enum opener_request_kind {
	OPENER_FILE,       /* holds the file that pid has mapped from start to end, as number */
	OPENER_STAMP,      /* says what the file that is held as number is like now */
	OPENER_DROP,       /* holds it no longer */
	OPENER_MAPS,       /* says what pid has mapped */
	OPENER_JIT,        /* finds where pid's JIT compiler writes its names, for the space number */
	OPENER_JIT_FORGET, /* releases that */
	OPENER_MEMORY,     /* the worker may read pid's memory from now on */
	OPENER_GIVE,       /* the descriptor of the file that is held as number, for a probe */
	OPENER_TITLE,      /* says pid's command line, file and name, as mappings of no bytes with these paths */
	OPENER_USE,        /* says what processes have used, as mappings: pid, three sums of bytes, CPU time, name */
	OPENER_AREA,       /* the descriptor of an area that pid has mapped, the one of that number from 0 on */
	OPENER_WORKER,     /* a new worker is at the other end of the socket that comes along; no answer */
};

struct opener_request {
	uint32_t sequence;
	uint32_t kind;
	uint32_t number; /* of a module or a space */
	uint32_t pid;
	uint64_t start, end;    /* 0: only the path is known */
	uint64_t device, inode; /* 0: unknown */
	uint64_t skips_tree;    /* its debug file is not looked for in pid's file tree */
	char path[];            /* ends with a NUL */
};

/* The last answer to each request; of OPENER_GIVE and OPENER_AREA, a descriptor comes along. */
struct opener_answer {
	uint32_t sequence;
	int32_t err;             /* 0 or a negative errno; OPENER_GOES_ON: it is an opener_mapping */
	struct file_stamp stamp; /* of OPENER_FILE and OPENER_STAMP */
};

enum { OPENER_GOES_ON = 1 };

struct opener_mapping {
	struct opener_answer answer;
	uint64_t start, end, file_offset;
	uint64_t device, inode;
	char path[]; /* ends with a NUL */
};

enum wanted_kind {
	WANTED_FILE,      /* the file that the tool calls number */
	WANTED_DEBUG,     /* of that file: a debug file at path, in its process's file tree */
	WANTED_OUR_DEBUG, /* the same in ours */
	WANTED_JIT,       /* the names of the JIT compiler of the space number */
	WANTED_MEMORY,    /* size_bytes of pid's memory at address */
	WANTED_PIECES,    /* pieces of pid's memory, as many as number says: struct memory_piece, in path's place */
};

struct wanted {
	uint32_t kind;
	uint32_t number;
	uint32_t pid;
	uint32_t size_bytes;
	uint64_t address;
	char path[]; /* ends with a NUL */
};

/* A descriptor comes along if there is one. */
struct given {
	int32_t err; /* 0 or a negative errno */
	uint32_t size_bytes;
	/*
	 * Of memory; of pieces, first a bit for each, lowest first: it was read. Then their bytes; of a debug file, its
	 * path with all links followed, with a NUL.
	 */
	char bytes[];
};

/* The process. */
void opener_serve(const struct helper_sockets *sockets);
