/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread, or a group of them, did over the time traced, one character a moment. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct page;
struct report_strip_part;

/* Of one thread: the state that it was in for most of the moment. */
void strip_put_thread(struct page *page, const struct report_strip_part *parts, size_t count, uint32_t columns);

/* Of a group: how many of its threads were active, the most of all moments being the highest. */
void strip_put_group(struct page *page, const struct report_strip_part *parts, size_t count, uint32_t columns);

/* What the characters of strip_put_thread() mean. */
void strip_put_legend(struct page *page);
