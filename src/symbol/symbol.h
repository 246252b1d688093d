/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to names. Learns the address spaces of the traced processes from the space.*
 * events, holds a descriptor of every file they map, and resolves addresses when asked,
 * even after the process and the file are gone. Strings it returns live until symbols_free().
 *
 * Owns: names of addresses, from whatever knows them.
 * Used by: collect/own, collect/probe, collect, collect/unwind, spin, findings/names, findings/parts, engine, query, live.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "symbol/answer/symbol_names.h"
#include "symbol/elf/build_id.h"
#include "symbol/names/kernel_functions.h"
#include "unwind/table_file.h"

struct pause;
struct symbols;
struct threads;

/* Subscribes to the space events of session. */
struct symbols *symbols_new(struct session *session);
void symbols_free(struct symbols *symbols);

/*
 * From now on the stacks of the session are examined, for what an interpreter runs is only known
 * as long as its process lives. Borrows threads, which tell whose stack it is.
 */
void symbols_follow_stacks(struct symbols *symbols, struct threads *threads);

/* Taken while files are read, which may last; borrowed. NULL: none. */
void symbols_set_pause(struct symbols *symbols, struct pause *pause);

/* Takes in the mappings that a process has already. 0, or the errno of its maps file. */
int symbols_add_process(struct symbols *symbols, uint32_t pid);

/* Answers are looked for among those of earlier runs, and kept for later ones: answer_cache.h. */
void symbols_use_cache(struct symbols *symbols);
void symbols_save_cache(struct symbols *symbols);

/*
 * The events come from a recording: the processes on this machine are other ones. Files are opened only if
 * the user wants names of them, for it is the recording that says which: it may be an enemy's.
 */
void symbols_set_offline(struct symbols *symbols, bool opens_files);

/* What is learnt from now on is kept for a recording. */
void symbols_keep_answers(struct symbols *symbols);

/* What there is to say so far about what was learnt is kept, too. */
void symbols_keep_notes(struct symbols *symbols);

/*
 * Part of what was learnt and not taken yet, as answer_book.h describes it; valid until the next
 * question. *size_bytes is 0 when that was all.
 */
const void *symbols_take_answers(struct symbols *symbols, size_t *size_bytes);

/*
 * What was learnt when the recording was made, which nothing else is asked then. -EBADMSG: it is
 * damaged, and only what comes before that is known.
 */
int symbols_add_answers(struct symbols *symbols, const void *answers, size_t size_bytes);

/* What a recording has of a file. */
struct symbol_file {
	uint64_t device, inode;   /* its own, which its mapping may not have */
	struct build_id build_id; /* of no bytes if it has none */
};

/* The file that a process has mapped at an address now. 0, or -ENOENT: nobody could open it. */
int symbols_file(struct symbols *symbols, uint32_t pid, uint64_t address, struct symbol_file *file);

/*
 * Resolves a user address of process pid, or a managed frame as values.h has it, as its address
 * space was at time_ns (CLOCK_MONOTONIC). is_return: the address follows a call, so that the call's own line is
 * meant. Fills up to max frames, the innermost inlined one first; always at least one.
 */
size_t symbols_resolve(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool is_return,
		       struct symbol_frame *frames, size_t max);

/* Two neighbouring frames of a stack. */
struct symbol_call {
	uint64_t callee; /* an address in the inner one; is_return: it follows a call */
	bool is_return;
	uint64_t return_address; /* in the outer one */
};

/*
 * The functions that were entered between two frames and left none, since they went on by a jump: those that are
 * certain, innermost first. Only one without a name has an offset, that of its beginning. Returns how many of frames[max] it
 * filled in, SYMBOL_TAIL_MAX at most; 0 where the call is an indirect one.
 */
size_t symbols_between(struct symbols *symbols, uint32_t pid, uint64_t time_ns, const struct symbol_call *call,
		       struct symbol_frame *frames, size_t max);

/*
 * The function that holds a user address, which is no return address, by its symbol alone: no line,
 * nothing that was inlined. function is NULL when none is known.
 */
void symbols_function(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
		      struct symbol_frame *frame);

struct symbol_request {
	uint32_t pid;
	uint64_t time_ns;
	uint64_t address;
	bool is_return;
	bool has_callee; /* the request before this one is of the frame that it called: symbols_between() will be asked */
};

/*
 * Looks up what will be resolved soon. Together this takes less time than one by one: addresses
 * are visited in the order of the files, each part of which is read once.
 */
void symbols_prepare(struct symbols *symbols, const struct symbol_request *requests, size_t count);

/*
 * The same for symbols_function() and for symbols_read_code() with this size, of addresses that are no
 * return addresses. What is read is remembered until the next call of this or of symbols_prepare().
 */
void symbols_prepare_code(struct symbols *symbols, const struct symbol_request *requests, size_t count,
			  size_t size_bytes);

/* Resolves a kernel address; one frame. Of a return address, pass the byte before it. */
void symbols_resolve_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame);

/* Who is asked of the running kernel's functions; without it, what a recording says of them is all that is known. */
void symbols_set_kernel_names(struct symbols *symbols, kernel_address_fn *ask, void *data);

/*
 * Puts what lies at an offset (bytes) of a type of the running kernel into name; -errno: that is unknown.
 */
typedef int symbol_member_fn(void *data, const char *type, uint32_t offset, char *name, uint32_t capacity_bytes);

/* Who is asked of the kernel's types; without it, what a recording says of them is all that is known. */
void symbols_set_kernel_types(struct symbols *symbols, symbol_member_fn *member, void *data);

/* What lies at an offset of a type of the kernel, "mmap_lock"; NULL: it is unknown. */
const char *symbols_kernel_member(struct symbols *symbols, const char *type, uint32_t offset);

/*
 * Resolves the address of data of process pid, as its address space was at time_ns. What lies in a
 * type of the system, or of a language's own library, has the name of the whole: a mutex has no
 * inside. 0, or -ENOENT when the address lies in no mapped file's data, but in the heap, a stack, a
 * thread's own variables or other memory without a file.
 */
int symbols_resolve_object(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
			   struct symbol_object *object);

/*
 * Reads code of process pid out of its file, for a disassembler: from the beginning of the function
 * that holds the address, as far as the function or size_bytes go. Where no function is known, or
 * the address is too far from its beginning, as much before the address as after it: an instruction
 * need not begin there. *start is the address of the first byte. Returns how many bytes there are;
 * 0 when the address is in no file.
 */
size_t symbols_read_code(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, uint8_t *code,
			 size_t size_bytes, uint64_t *start);

struct module_identity;

/* A file that is open: what is said of it is said of what this descriptor leads to, whatever others say. */
struct symbol_open_file {
	int fd;          /* the caller's */
	uint32_t module; /* its number */
};

/*
 * Opens the file that a process has mapped, or has at a path, to put probes into it. -EXDEV: it lies where
 * reading it could take for ever; or the errno of opening it.
 */
int symbols_open_file(struct symbols *symbols, const struct module_identity *identity, struct symbol_open_file *file);

/*
 * Where a function that the file exports begins in it. 0, or -ENOENT when it has none of this name that
 * could be probed: as below.
 */
int symbols_find_function(struct symbols *symbols, const struct symbol_open_file *file, const char *name,
			  uint64_t *file_offset);

/*
 * The functions of the file that are called so, by their symbols or as function_is_called() says. All places
 * are beginnings of instructions in code that is loaded: probe_place.h. 0, or -ENOENT when it has none.
 */
int symbols_find_functions(struct symbols *symbols, const struct symbol_open_file *file, const char *name,
			   struct symbol_functions *found);

/*
 * The sites of USDT probes of the file whose "PROVIDER:PROBE" matches the pattern, as a shell matches file names: from the one
 * with this number on, 0 the first. All are beginnings of instructions in code that is loaded. 0, or -ENOENT: there are none.
 */
int symbols_find_usdt(struct symbols *symbols, const struct symbol_open_file *file, const char *pattern, uint64_t first,
		      struct symbol_usdt *found);

/*
 * What is the same for equal code in different processes: *module names the file (by build-id,
 * or device and inode), *offset the place in it. With whole_function the start of the
 * function that holds the address, which costs its symbol table only; where that does not say,
 * the address's own place. Of a return address, pass the byte before it. -ENOENT when
 * nothing is mapped there.
 */
int symbols_place(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool whole_function,
		  uint32_t *module, uint64_t *offset);

/* The module runs Python or Ruby: its frames come between those of their functions. */
bool symbols_is_interpreter(const struct symbols *symbols, uint32_t module);

struct go_answer;
struct symbol_mapping;

/* The module is a Go program, as far as its unwind table has been made. */
bool symbols_is_go(const struct symbols *symbols, uint32_t module);

/*
 * Has goroutines of a process read, which has mapped a Go program so; which of many follows from random. on_read gets
 * the answer, valid until it returns, or an error, when symbols_step() or symbols_settle() is called. 0, or -errno:
 * nothing will come.
 */
typedef void symbols_on_goroutines(void *data, uint32_t pid, int err, const struct go_answer *answer);
int symbols_read_goroutines(struct symbols *symbols, uint32_t pid, const struct symbol_mapping *mapping,
			    uint32_t random, symbols_on_goroutines *on_read, void *data);

/* Why those of a process cannot be read: a note says so. err, answer: as on_read got them. */
void symbols_note_goroutines(struct symbols *symbols, uint32_t pid, int err, const struct go_answer *answer);

struct jvm_answer;

/* The module is the library of a Java virtual machine, by its name. */
bool symbols_is_jvm(const struct symbols *symbols, uint32_t module);

/*
 * The same of where the Java virtual machine of a process, which has mapped its library so, keeps the code that it
 * generates; and why that cannot be read.
 */
typedef void symbols_on_jvm(void *data, uint32_t pid, int err, const struct jvm_answer *answer);
int symbols_read_jvm(struct symbols *symbols, uint32_t pid, const struct symbol_mapping *mapping,
		     symbols_on_jvm *on_read, void *data);
void symbols_note_jvm(struct symbols *symbols, uint32_t pid, int err);

/*
 * Sentences about what could not be named and what to do about it, only of files in which an
 * address was resolved. Valid until the next call for this object.
 */
size_t symbols_notes(const struct symbols *symbols, const char *const **notes);

/* What the user can do so that the code which a process generated has names: a sentence, static. */
const char *symbols_names_hint(const struct symbols *symbols, uint32_t pid);

/* What a process has mapped to execute now; a module has a number, 0 when there are too many. */
struct symbol_mapping {
	uint64_t start, end, file_offset;
	uint32_t module;
};

/* Calls on_mapping for the mappings of a process, in the order of their addresses. */
void symbols_each_mapping(const struct symbols *symbols, uint32_t pid,
			  void (*on_mapping)(void *data, const struct symbol_mapping *mapping), void *data);

/*
 * Has the unwind table of a module made. on_file gets it, for the receiver to free, when symbols_step() or
 * symbols_settle() is called; err is -ENOENT when there is none: a file without call frame information, or one
 * that cannot be read. 0, or -ENOENT: nothing will come, as of generated code.
 */
typedef void symbols_on_unwind_file(void *data, uint32_t module, int err, struct unwind_file *file);
int symbols_ask_unwind_file(struct symbols *symbols, uint32_t module, symbols_on_unwind_file *on_file, void *data);

/*
 * Files and processes are read by other processes. begin: starts these, as long as this one has the
 * privileges; -ECANCELED: there will be no names. step: takes in what they found, to be called often. settle:
 * until there is nothing more to come, but limit_ns at most.
 */
int symbols_begin(struct symbols *symbols);
void symbols_step(struct symbols *symbols);
void symbols_settle(struct symbols *symbols, uint64_t limit_ns);

struct process_words;

/* What the kernel says of a process now: helper/opener.h. 0, or -errno: it has ended, or cannot be examined. */
int symbols_read_words(struct symbols *symbols, uint32_t pid, struct process_words *words);

/* An area of a process's own events: helper/opener.h. A descriptor, or -errno. */
int symbols_open_area(struct symbols *symbols, uint32_t pid, uint32_t number);

struct process_use;

/* What processes of the machine have used: helper/opener.h. */
int symbols_read_use(struct symbols *symbols, void (*on_each)(void *data, const struct process_use *use), void *data);

/* Java virtual machines are asked for names: java_maps.h. After symbols_begin(). finish: a last time, in limit_ns. */
void symbols_ask_java(struct symbols *symbols);
void symbols_finish_java(struct symbols *symbols, uint64_t limit_ns);

/* Readable when there is something to take in; -1: nothing is to come. */
int symbols_poll_fd(const struct symbols *symbols);

/* The peak of the resident memory of the process that reads the files. */
uint64_t symbols_memory_bytes(const struct symbols *symbols);
