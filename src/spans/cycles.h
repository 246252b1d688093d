/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions of a trace that has no spans: the cycles of a thread that waits for the same cause again and again, such
 * as a timer. A cycle begins when one of these waits ends, and ends where the next one begins: it has the wait for a
 * CPU, which a wake-up leads to, and no part of the wait itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "spans/execution.h"

struct states;
struct states_question;

/*
 * Adds the cycles of threads that lie in a time (states.h), those of each thread in time order. One in which it is not known what the
 * thread did may be several, and is left out.
 */
void cycles_add(struct states *states, const struct states_question *question, enum wait_cause cause,
		struct executions *out);
