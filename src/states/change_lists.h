/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which blocks each thread changes its state, as state_places.h puts them: packed, and unpacked when somebody asks for a thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct change_lists {
	uint8_t *packed;
	size_t packed_bytes;
	struct changes *changes; /* by thread, and for one thread by block */
	size_t count, capacity;
	size_t listed; /* blocks in unpacked lists */
};

/* The struct begins zeroed. Takes the content of a chunk; -EBADMSG: it makes no sense, or they are too many. */
int change_lists_take(struct change_lists *lists, const void *bytes, size_t size_bytes);

/*
 * The same of a file that grows, of which each chunk says what came since the one before. It stays sorted; a struct takes chunks in one of
 * both ways.
 */
int change_lists_grow(struct change_lists *lists, const void *bytes, size_t size_bytes);

/* After all chunks, before somebody asks. */
void change_lists_sort(struct change_lists *lists);
void change_lists_fini(struct change_lists *lists);

/* The first block after this one, of so many, in which the thread changes; SIZE_MAX: there is none. */
size_t change_lists_next(struct change_lists *lists, uint32_t thread, size_t after, size_t block_count);

/* Calls on_thread for the number of each thread that has a list, in their order. */
void change_lists_each_thread(const struct change_lists *lists, void (*on_thread)(void *data, uint32_t thread),
			      void *data);
