/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stands in for libbpf's: the host's structs are their own truth. What cannot be read is 0. */
#pragma once

#include "bpf_helpers.h"

#define BPF_CORE_READ_INTO(to, src, field) \
	bpf_probe_read_kernel(to, sizeof(*(to)), (void *)((__u64)(src) + offsetof(__typeof__(*(src)), field)))
#define BPF_CORE_READ(src, field)                            \
	({                                                   \
		__typeof__((src)->field) core_value;         \
		BPF_CORE_READ_INTO(&core_value, src, field); \
		core_value;                                  \
	})
#define BPF_CORE_READ_BITFIELD(src, field) ((src)->field)
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_type_exists(type) true
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_enum_value(type, value) value
#define bpf_core_field_exists(field) ((void)sizeof(field), shim_field_exists(#field))

/* Whether the kernel that the test means has it. */
bool shim_field_exists(const char *field);

/* Pointers to what is const in kernel.h go to functions that bpf_helpers.h has taken it from. */
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wincompatible-pointer-types-discards-qualifiers"
#else
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"
#endif
