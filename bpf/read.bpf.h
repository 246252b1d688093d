/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of the kernel's memory where a call of bpf_probe_read_kernel() for each would be a good part of what a record costs. */
#pragma once

#include "emit.bpf.h"

#include <bpf/bpf_core_read.h>

/*
 * The 8 bytes at an address; 0: there is nothing. 8 ns instead of 22 where the kernel has bpf_rdonly_cast(), which one
 * object alone can call: bpf/sched.bpf.c.
 */
__u64 kernel_word(__u64 address);

/* A field of 8 bytes of an object that may be gone. */
#define KERNEL_WORD(type, address, field)                                                          \
	({                                                                                         \
		_Static_assert(sizeof(((type *)0)->field) == sizeof(__u64), "a word has 8 bytes"); \
		kernel_word((__u64)(address) + bpf_core_field_offset(type, field));                \
	})
