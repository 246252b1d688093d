/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Areas whose descriptors processes hand over themselves (PINCHTRACE_READER_NAME in lib/pinchtrace_format.h): of those that end at
 * once, too. Anybody on the machine may hand over anything: who it was is the kernel's word, and only files in memory are taken,
 * since no program can keep others from reading these. Of more than PINCHTRACE_READERS at a time on a machine the later ones
 * find areas by the processes that have them mapped.
 */
#pragma once

#include <stdint.h>

struct own_offers;

/* Before the privileges go. Where there can be no socket, nothing is offered. */
struct own_offers *own_offers_open(void);
void own_offers_close(struct own_offers *offers);

/* Takes in what has been offered since the last call. */
void own_offers_step(struct own_offers *offers);

/* A descriptor that the process has handed over, the caller's from here on; -ENOENT: there is none, or not any more. */
int own_offers_take(struct own_offers *offers, uint32_t pid);
