/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who or what ended a wait. */
#pragma once

#include "waits/sums/ended_wait.h"
#include "waits/sums/missing_wakeups.h"

struct file_info;
struct other;
struct others;

/* file: that was waited for, or NULL. other: who woke, when not traced and known, or NULL. */
enum waker_kind waker_kind_of(enum wait_cause cause, const struct wait_facts *facts, const struct ev_sched_wake *e,
			      const struct file_info *file, const struct other *other);

/* Who ended the wait by e, all but the weight. file: that it waited for, or NULL. */
struct wait_end wait_end_of(const struct open_wait *wait, uint64_t now_ns, const struct ev_sched_wake *e,
			    const struct wait_party *waker, const struct file_info *file, const struct others *others);

/* No record has the wake-up; of some waits there is only one thing that can have ended them. */
enum waker_kind wait_missing_kind(const struct open_wait *wait, enum missing_reason reason);
