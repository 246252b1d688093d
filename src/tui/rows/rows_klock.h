/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel lock unfolds to: its figures, who had it, who waited for it, and where. */
#pragma once

#include <stdint.h>

struct page;
struct row;
struct rows;

enum { KLOCK_COUNT_COLUMNS = 8 };

/* Of a row whose item is a struct report_klock. */
void rows_add_klock_parts(struct rows *rows, const struct row *row);

/* What rows begin with: time waited, its share of the whole, though an estimate may be more than that, and waits. */
void row_put_klock_sums(struct page *page, uint64_t wait_ns, uint64_t whole_ns, uint64_t waits);

uint64_t klock_mean_ns(uint64_t sum_ns, uint64_t count);

/* A piece of a sentence: a time behind some words. */
void row_put_klock_time(struct page *page, const char *words, uint64_t time_ns);
