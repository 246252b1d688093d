/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs of the skeleton, loaded by several threads at once: the kernel takes a sixth of a second of CPU time to verify
 * them. Each thread has an object of its own, with a share of the programs and the maps of the skeleton's, which has no programs.
 * The threads end before programs_end() returns.
 */
#pragma once

#include <bpf/libbpf.h>

struct btf;
struct pinch_bpf;
struct programs;

/* Opens the skeleton, for which programs are chosen then as for any other. NULL: see errno. */
struct programs *programs_open(struct pinch_bpf **bpf);
void programs_free(struct programs *programs);

/* What is needed of the kernel's type information; NULL: it has none. Stays as long as the programs. */
const struct btf *programs_types(const struct programs *programs);

/* Makes the maps and begins to load what is chosen. 0, or a negative errno. */
int programs_begin(struct programs *programs);

/* Waits until all is loaded: the skeleton has the programs then. 0, or a negative errno. */
int programs_end(struct programs *programs);
