/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running kernel calls an address of its code. */
#pragma once

#include <stdint.h>

/* A kernel_address_fn: bpf is a struct pinch_bpf, whose programs are loaded. */
int kernel_names_ask(void *bpf, uint64_t address, char *text, uint32_t capacity_bytes);
