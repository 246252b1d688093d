/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who or what ended a wait. */
#pragma once

#include "waits/waits.h"

struct file_info;
struct other;

/* file: that was waited for, or NULL. other: who woke, when not traced and known, or NULL. */
enum waker_kind waker_kind_of(enum wait_cause cause, const struct wait_facts *facts, const struct ev_sched_wake *e,
			      const struct file_info *file, const struct other *other);
