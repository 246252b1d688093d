/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a trace that the user chose, or all. The caller owns the struct, which begins zeroed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct settings;
struct trace_states;

struct chosen_threads {
	uint32_t *numbers;
	size_t count, capacity;
};

/* 0, or -ENOENT after having said which word names none. */
int chosen_threads_find(const struct settings *settings, const char *path, const struct trace_states *all,
			struct chosen_threads *chosen);
void chosen_threads_fini(struct chosen_threads *chosen);
