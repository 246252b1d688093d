/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has it read where the Java virtual machines of traced processes keep their code, as soon as they know it themselves,
 * so that stacks are followed through it.
 */
#pragma once

struct jvms;
struct session;
struct symbols;
struct unwinder;

/* Subscribes to session; the unwinder must have done so before. All are borrowed. */
struct jvms *jvms_new(struct session *session, struct symbols *symbols, struct unwinder *unwinder);
void jvms_free(struct jvms *jvms);

/* Asks of those that are due. To be called often. */
void jvms_step(struct jvms *jvms);

/* Tracing has ended: says which of them could not be read. */
void jvms_finish(struct jvms *jvms);

/* Until the next of them is due, at least 1 ms; -1: none is. */
int jvms_wait_ms(const struct jvms *jvms);
