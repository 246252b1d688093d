/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By how much a wake-up's record may be out of order with that of the block before it or of the switch
 * after it. The kernel side puts them in order (bpf/sched.bpf.c): a switch reads the clock and then marks
 * its thread as blocked; who wakes takes that mark away, which only one can, and reads the clock then;
 * and the thread gets into a run queue after that. So only clocks can swap them, of two CPUs that
 * disagree by more than lies between. Linux takes no clock of which it has seen two CPUs disagree at all
 * (arch/x86/kernel/tsc_sync.c); what adjusts it changes it by nanoseconds. Of 200,000 to 300,000 waits no two
 * records were swapped, and the nearest were 354 ns (block and wake-up) and 1.8 us (wake-up and switch)
 * apart. What is further apart than this belongs to two different waits: what lay between is missing.
 */
#pragma once

enum { WAKE_TIE_NS_MAX = 10 * 1000 };
