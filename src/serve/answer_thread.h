/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread with a stack of a stated size, that works for another one. The threads of the HTTP server have the size that its library was
 * built with (100 KB of Debian's), and no more: names of C++ take up to 320 KB of a stack, scripts that call themselves through C 360 KB.
 */
#pragma once

#include <stddef.h>

/*
 * Of the threads that answer: tests/unit/answer_thread_test.c asks what needs most in half of it. Only what is used takes memory. The guard
 * behind it is larger than a frame of pinch may be (FRAME_BYTES_MAX in the Makefile): nothing steps over it.
 */
enum { ANSWER_STACK_BYTES = 1 << 20, ANSWER_GUARD_BYTES = 64 << 10 };

struct answer_thread;

/* NULL: the system has no thread left. */
struct answer_thread *answer_thread_new(size_t stack_bytes);

/* Ends the thread, which has no work. */
void answer_thread_free(struct answer_thread *thread);

/* Calls work(data) there, and returns when that has returned. For one caller at a time. */
void answer_thread_do(struct answer_thread *thread, void (*work)(void *data), void *data);
