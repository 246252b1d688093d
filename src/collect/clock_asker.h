/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks clocks of other hosts in a process of its own: of each, 10 times a second at first, then once a second, the best of 8
 * exchanges.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { CLOCK_PEERS_ASKED_MAX = 8 };

/*
 * sockets: as clock_peer_open() makes them, count of them. Each answer is a struct clock_reading in the pipe, which does not block, or
 * is lost if that is full; the process ends when nobody has its other end. All descriptors stay the caller's. 0 and
 * what clock_process_stop() takes in *pid, or a negative errno after a message. Comes before there are threads.
 */
int clock_asker_start(const int *sockets, size_t count, int pipe, pid_t *pid);
