/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples what the goroutines of the traced Go programs do: at a random moment of each period, which is 25 ms or, where
 * there are many goroutines, 100 times the CPU time of a reading. Told as go.SAMPLE and go.WAITING, and their stacks.
 */
#pragma once

struct goroutines;
struct session;
struct symbols;

/* Subscribes to session; both are borrowed. */
struct goroutines *goroutines_new(struct session *session, struct symbols *symbols);
void goroutines_free(struct goroutines *goroutines);

/* Reads those that are due, and hands out what has come. To be called often. */
void goroutines_step(struct goroutines *goroutines);

/* When to call it next: so many ms from now at most; -1: nothing is to be read. */
int goroutines_wait_ms(const struct goroutines *goroutines);
