/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF programs that are loaded. */
#pragma once

#include <stdint.h>

struct bpf_program;

/* How often the kernel did not enter it, for it does not enter again what an interrupt has interrupted. */
uint64_t program_not_entered(const struct bpf_program *program);
