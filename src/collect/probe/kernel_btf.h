/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the kernel's type information (BTF) that this tool asks for. libbpf takes 10 ms to take in all of it, each time, and
 * half a millisecond for each type that it looks for in there by its name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct btf;

/*
 * Types with the names of types in asked (NULL: none), what stands behind "___" apart, and those of these other names, whatever they are; of both
 * what they consist of. What pointers lead to is left out, unless it is a function. A few others are among them. NULL: the kernel
 * has no type information, or none that is understood. To be freed by btf__free(). Gives the kernel's number of task_struct; 0: it has none.
 */
struct btf *kernel_btf_new(const struct btf *asked, const char *const *others, size_t count, uint32_t *task_type);
