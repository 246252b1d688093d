/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's variables of each CPU lie among each other, by its type information.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct btf;

/* From where those of a CPU begin; false when there is none of that name. */
bool percpu_find(const struct btf *btf, const char *name, uint32_t *offset);

/* The word that counts what a CPU has been interrupted by. */
bool percpu_find_preempt_count(const struct btf *btf, uint32_t *offset);
