/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs that this thread may use. */
#pragma once

/*
 * Goes to each of them, one after the other, so that each has a switch to this thread and, as soon as it
 * waits for something, one away from it. Returns to how many; it may use all of them again then.
 */
unsigned int cpus_visit(void);
