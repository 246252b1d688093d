/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rings of an area, and up to where each of them has been read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct area_listener;
struct area_rings;
struct pinchtrace_header;

/* fd is borrowed; the header has been checked. */
struct area_rings *area_rings_new(int fd, const struct pinchtrace_header *header);
void area_rings_free(struct area_rings *rings);

/* As area_take(), of the first ring_count rings. */
int area_rings_take(struct area_rings *rings, uint32_t ring_count, const struct area_listener *listener,
		    uint64_t *until_ticks);

/* As area_skip(). */
int area_rings_skip(struct area_rings *rings, uint32_t ring_count, uint64_t before_ticks);

/* Events of signal handlers for which there was no space. */
uint64_t area_rings_lost(const struct area_rings *rings);

bool area_rings_have_more(const struct area_rings *rings);
double area_rings_fill(const struct area_rings *rings);
