/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of kernel locks: bpf/klock.bpf.c. */
#pragma once

#include <stdint.h>

struct pinch_bpf;

/* Of a program that is loaded: shows it what has to be known before. 0, or a negative errno, said. */
int klocks_prepare(struct pinch_bpf *bpf);

/* Waits that were not recorded, for the kernel does not enter a program again that it has interrupted. */
uint64_t klocks_lost(const struct pinch_bpf *bpf);
