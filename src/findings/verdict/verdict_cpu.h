/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had the CPUs that threads waited for. */
#pragma once

#include <stdbool.h>

struct findings;
struct report_blocker;
struct report_wait;

/*
 * The process, or those of one name, that had the CPU for most of the time that threads waited for one; pid is 0 of
 * several. It lives in the arena of the findings. NULL: none.
 */
const struct report_blocker *verdict_rival(struct findings *findings);

/*
 * Whether those who wait for a lock behind one who has no CPU have the CPUs themselves, when they do not wait: then it is the
 * lock that makes them take turns, and not a shortage of CPUs. wait: NULL: it is none.
 */
bool verdict_is_own_shortage(struct findings *findings, const struct report_wait *wait);
