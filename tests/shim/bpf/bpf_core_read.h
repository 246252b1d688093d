/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stands in for libbpf's: the host's structs are their own truth. A NULL reads as 0. */
#pragma once

#define BPF_CORE_READ(src, field) ((src) ? (src)->field : (__typeof__((src)->field))0)
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_field_exists(field) 1
