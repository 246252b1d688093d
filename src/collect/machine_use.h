/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much each process of the machine reads from disks and writes for them, and computes, while it is traced, as the kernel has
 * it when tracing begins and when it ends: resource.STORAGE has the difference of those that moved most, and of all traced
 * ones; resource.CPU_TIME that of those others that computed most. What ended meanwhile is not counted; what began is counted
 * whole.
 */
#pragma once

struct session;
struct machine_use;
struct symbols;

/* Subscribes to session; both are borrowed. */
struct machine_use *machine_use_new(struct session *session, struct symbols *symbols);
void machine_use_free(struct machine_use *use);

/* Reads the counters for the first time. */
void machine_use_begin(struct machine_use *use);

/* Hands out the differences. */
void machine_use_finish(struct machine_use *use);
