/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much each process of the machine reads from disks and writes for them while it is traced, as the kernel has it when
 * tracing begins and when it ends: resource.STORAGE has the difference of those that moved most, and of all traced ones.
 * What ended meanwhile is not counted; what began is counted whole.
 */
#pragma once

struct session;
struct storage_use;
struct symbols;

/* Subscribes to session; both are borrowed. */
struct storage_use *storage_use_new(struct session *session, struct symbols *symbols);
void storage_use_free(struct storage_use *use);

/* Reads the counters for the first time. */
void storage_use_begin(struct storage_use *use);

/* Hands out the differences. */
void storage_use_finish(struct storage_use *use);
