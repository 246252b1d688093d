/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel lock is called, and who waits for it: for the text view and the terminal UI. */
#pragma once

#include <stdbool.h>

struct fold_rules;
struct page;
struct report_klock;
struct report_klock_stack;

/* A row of all that found no space has none. */
bool klock_has_address(const struct report_klock *lock);

/* "mmap_lock of server  rwsem read": its name in bold, or what else is known about it, and its kind. */
void klock_put_name(struct page *page, const struct report_klock *lock);

/* The program's function that wanted the lock; in a thread of the kernel, or an interrupt, the kernel's. */
void klock_put_headline(struct page *page, const struct report_klock_stack *stack, const struct fold_rules *fold);
