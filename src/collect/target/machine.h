/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine lets pinch do, found by trying, never by version number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct btf;

struct machine_check {
	const char *what; /* "BPF type information (BTF)" */
	bool is_needed;   /* without it nothing can be traced */
	bool is_seen;
	char found[480];  /* what was seen: "/sys/kernel/btf/vmlinux, 5.9 MB" */
	char remedy[240]; /* how to get it, when it is not met */
};

/* Fills in up to max checks; returns how many there are. */
size_t machine_check(struct machine_check *checks, size_t max);

/*
 * Whether the kernel, of which this is the type information, reports a thread's exit only when its
 * memory is gone, and has the function that tells before.
 */
bool machine_exit_is_late(const struct btf *btf);

/* Whether it reports page faults in user space. */
bool machine_has_fault_events(const struct btf *btf);

/* Whether it reports sockets that data has come to: since Linux 6.4. */
bool machine_has_ready_events(const struct btf *btf);

/* Whether it reports system calls. */
bool machine_has_call_events(const struct btf *btf);

/* Whether it reports locks of files that are taken, or tried to. */
bool machine_has_lock_events(const struct btf *btf);

/* Functions of the kernel can be probed. */
bool machine_has_kprobes(void);

/* Says what is needed and missing. 0, or a negative errno after it has been said. */
int machine_explain_missing(void);
