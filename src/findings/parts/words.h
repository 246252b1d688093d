/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How sentences of the report call things. Strings live in the arena of the findings. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct findings;
struct report_blocked_code;
struct report_blocked_on;
struct report_frame;
struct report_path;
struct wait_lock;
struct wait_path;

/* As long as a sentence can bear: if need be with template arguments and parameters left out. */
const char *words_name(struct findings *findings, const char *name);

/* The name of a variable or a file; of a long one, its begin and its end. */
const char *words_object(struct findings *findings, const char *name);

/* "big_work() (multi_mutex.cpp:28)"; NULL when no function is known that says anything. */
const char *words_place(struct findings *findings, const struct report_frame *frames, size_t count);

/* The same, or, where no function has a name, whose code it is; NULL: not even that is known. */
const char *words_any_place(struct findings *findings, const struct report_frame *frames, size_t count);

/* The function of the user's own that called the one of that frame; NULL: none is known. */
const char *words_caller(struct findings *findings, const struct report_frame *frames, size_t count,
			 const struct report_frame *frame);

/* The same of the frame that words_place() names. */
const char *words_place_caller(struct findings *findings, const struct report_frame *frames, size_t count);

/* "garbage collection of Go, ", if that is what runs by that call path; else "". */
const char *words_collection(struct findings *findings, const struct report_frame *frames, size_t count);

const char *words_duration(struct findings *findings, uint64_t time_ns);

/* A kind of lock or wait in a sentence: "metadata lock" of "metadata-lock". */
const char *words_kind(struct findings *findings, const char *kind);

/* What one thread alone does: "a thread waits for f" of "threads wait for f". */
const char *words_singular(struct findings *findings, const char *title);

/* "31.2 MB". */
const char *words_size(struct findings *findings, uint64_t size_bytes);

/* "1 wait", "17 waits". */
const char *words_counted(struct findings *findings, uint64_t count, const char *thing);

/* "3 waits of 2 ms on average and 4 ms at most" */
const char *words_lengths(struct findings *findings, uint64_t count, uint64_t wait_ns, uint64_t max_ns);

/* "big_work() (multi_mutex.cpp:28)", or "code of libx.so without symbols". */
const char *words_frame(struct findings *findings, const struct report_frame *frame);

/* The same of a name that may be one, or a place: "libx.so+0x1234". */
const char *words_function(struct findings *findings, const char *name);

/* "1299 samples, 81 % of them in f"; NULL: the path is NULL, or has none. */
const char *words_samples(struct findings *findings, const struct report_path *path);

/* The frames of a path, which may be NULL: then there are none. */
size_t words_path_frames(struct findings *findings, const struct wait_path *path, const struct report_frame **frames);

/* "take (a.c:3), from run (a.c:9)": the functions of the user's own; NULL: none is known. */
const char *words_path(struct findings *findings, const struct wait_path *path);

/* "sleep in f (x.c:3), from g (x.c:20)". */
const char *words_wait_place(struct findings *findings, const struct wait_path *path);

/*
 * words_blocked_on.c: "57 % ran f (a.c:3), called by g; 36 % waited for a CPU", the largest parts first; NULL: nothing
 * is known that is large enough.
 */
const char *words_blocked_on(struct findings *findings, const struct report_blocked_on *blocked_on);

/* The same of code alone, with its parts of all_ns: "57 % f (a.c:3), called by g". */
const char *words_code(struct findings *findings, const struct report_blocked_code *code, size_t count,
		       uint64_t all_ns);

/*
 * "h, which waited itself then: sleep in f for 2 s", of the lock's holder; NULL: nothing is known of what it did.
 */
const char *words_holder_wait(struct findings *findings, const struct wait_lock *lock);
