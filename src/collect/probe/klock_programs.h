/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of kernel locks: bpf/klock.bpf.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pinch_bpf;

/* Before loading. knows_contexts: interrupts can be told from threads, which the nested programs need. */
void klocks_choose(struct pinch_bpf *bpf, bool knows_contexts);

/* Of programs that are loaded: shows them what has to be known before. 0, or a negative errno, said. */
int klocks_prepare(struct pinch_bpf *bpf);

/* The nested programs are the last ones to be attached and the first ones to be detached. 0, or a negative errno. */
int klocks_attach_nested(struct pinch_bpf *bpf);
void klocks_detach_nested(struct pinch_bpf *bpf);

/* Events that were not recorded: an interrupt came that neither the first nor the nested program was entered for. */
uint64_t klocks_lost(const struct pinch_bpf *bpf, unsigned int cpu_count);
