/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures made of characters: bars and sparklines, in blocks or in ASCII. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page;

/* A bar of share (0 to 1) of the columns. What is above 0 is never invisible. */
void bars_put(struct page *page, double share, uint32_t columns);

/* A bar whose end, `second` of it, has another shade; share includes second. */
void bars_put_two(struct page *page, double share, double second, uint32_t columns);

/* The characters of bars_put_two(), for a legend. */
const char *bars_first_glyph(const struct page *page);
const char *bars_second_glyph(const struct page *page);

/*
 * One character for each value, averaged down to so many columns; the highest character
 * stands for `max`. Zero has a mark of its own.
 */
void bars_put_sparkline(struct page *page, const double *values, size_t count, double max, uint32_t columns);
