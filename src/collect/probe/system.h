/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that tell what the machine does besides its threads (bpf/system.bpf.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pinch_bpf;

/* Before loading: whether that is recorded. */
void system_choose(struct pinch_bpf *bpf, bool is_recorded);

/* How many of its records were lost. */
uint64_t system_lost(const struct pinch_bpf *bpf);
