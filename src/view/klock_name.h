/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a lock of the kernel is called: for the text view and the terminal UI. */
#pragma once

#include <stdbool.h>

struct page;
struct report_klock;

/* A row of all that found no room has none. */
bool klock_has_address(const struct report_klock *lock);

/* "mmap_lock of server  rwsem read": its name in bold, or what else is known of it, and its kind. */
void klock_put_name(struct page *page, const struct report_klock *lock);
