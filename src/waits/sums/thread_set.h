/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads there were: their numbers, each once, up to a bound. The caller owns the struct, which begins zeroed, and the
 * memory of the numbers, which he brings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { THREAD_SET_MAX = 1024 };

struct thread_set {
	uint32_t *numbers; /* in order */
	uint32_t count, capacity;
};

/* Whether the thread is not there and would be taken. */
bool thread_set_wants(const struct thread_set *set, uint32_t number);

/* The bytes of memory that it needs for another thread: 0: none. */
size_t thread_set_bytes_wanted(const struct thread_set *set);

/* Moves it into so much memory, zeroed or not. */
void thread_set_move(struct thread_set *set, void *memory, size_t size_bytes);

/* Of a thread that it wants, with memory for it. */
void thread_set_add(struct thread_set *set, uint32_t number);

/* All of it, with the arena's memory. Returns whether the thread is new. */
bool thread_set_put(struct thread_set *set, struct arena *arena, uint32_t number);
