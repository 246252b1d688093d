/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the running kernel, its modules and BPF programs, one when it is asked for. */
#pragma once

#include <stdint.h>

struct kernel_functions;
struct names;

struct kernel_function {
	const char *name;   /* NULL: there is none */
	const char *module; /* "[kernel]", "[nf_tables]", "[bpf]" */
	uint64_t start;
};

/* Puts what the kernel calls an address, "name+0x1a/0x90 [module]", into text; -errno: it cannot be asked. */
typedef int kernel_address_fn(void *data, uint64_t address, char *text, uint32_t capacity_bytes);

/* Asks for each address once. The strings are kept in names, which is borrowed. */
struct kernel_functions *kernel_functions_new(kernel_address_fn *ask, void *data, struct names *names);
void kernel_functions_free(struct kernel_functions *functions);

/* The function that an address lies in. Valid until the object is freed. */
const struct kernel_function *kernel_functions_find(struct kernel_functions *functions, uint64_t address);
