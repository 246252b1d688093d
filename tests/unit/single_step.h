/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a function instruction by instruction, by the processor's trap flag. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Calls function and notes the instructions between begin and end that are executed. It is left at
 * the max-th of them, and where it would wait for a futex. Returns how many there were.
 */
size_t single_step(void (*function)(void *), void *argument, uint64_t begin, uint64_t end, uint64_t *instructions,
		   size_t max);
