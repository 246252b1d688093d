/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the kernel, its modules and BPF programs, from /proc/kallsyms. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

struct kernel_function {
	const char *name;
	const char *module; /* "[kernel]", "[nf_tables]", "[bpf]" */
	uint64_t start;
};

/*
 * Opens it, which may take a privilege; what asks first reads it all. There is nothing in it when the kernel hides its
 * addresses. modules: a file that says which modules there are.
 */
struct kernel_symbols *kernel_symbols_new(const char *path, const char *modules);
void kernel_symbols_free(struct kernel_symbols *symbols);

/*
 * Goes on reading the functions of the kernel itself, for so long: nearly all there are, and they stay as they are. What
 * comes behind them is read when somebody asks, for modules and programs come and go.
 */
void kernel_symbols_step(struct kernel_symbols *symbols, uint64_t limit_ns);

/* What is found is valid until the object is freed. */
bool kernel_symbols_find(struct kernel_symbols *symbols, uint64_t address, struct kernel_function *function);
size_t kernel_symbols_count(struct kernel_symbols *symbols);
