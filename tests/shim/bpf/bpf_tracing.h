/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stands in for libbpf's: a program is a function that tests call with its arguments. */
#pragma once

#define BPF_PROG(name, args...) name(void *ctx __attribute__((unused)), ##args)

/* A format of the kernel's own; tests do not read what it writes. */
#define BPF_SNPRINTF(to, bytes, format, args...) ((void)(bytes), (void)sizeof((__u64[]){ args }), (to)[0] = '\0')
