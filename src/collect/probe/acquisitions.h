/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel side of locks that are taken, also while they are free: bpf/acquire.bpf.c, at the functions that a
 * klock_spec lists.
 */
#pragma once

struct acquisitions;
struct klock_spec;
struct pinch_bpf;
struct text;

/* Of programs that are not loaded yet. spec: NULL, acquisitions are not counted. */
void acquisitions_choose(struct pinch_bpf *bpf, const struct klock_spec *spec);

/*
 * Attaches to all functions of spec that the kernel has, and measures on locks that nobody else wants what it takes
 * to note a hold. Borrows both. 0, or a negative errno, said.
 */
int acquisitions_start(struct pinch_bpf *bpf, const struct klock_spec *spec, struct acquisitions **out);

/* From here on nothing is counted; what was can still be listed. */
void acquisitions_detach(struct acquisitions *acquisitions);
void acquisitions_free(struct acquisitions *acquisitions);

/*
 * Has the kernel side report what came since its last report: klock.HELD. Returns of how many locks there was no space
 * for in the rings, or a negative errno, said.
 */
int acquisitions_list(struct acquisitions *acquisitions);

/* Sentences on what is missing, each with its NUL. */
void acquisitions_put_notes(const struct acquisitions *acquisitions, struct text *notes);
