/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Since when input lies unread where the kernel does not note when it came: in pipes, Unix sockets and UDP sockets. What is at the
 * front of a queue at one look and still there at the next one has been there in between.
 */
#pragma once

#include <linux/types.h>

/*
 * What is at the front of a queue, as a number: of a pipe another one after each read, of a socket after the message was read, unless
 * the next one lies at the same place in memory and is as long. 0: nothing is there.
 */
__u64 input_of_pipe(__u64 pipe);
__u64 input_of_unix(__u64 sock);
__u64 input_of_udp(__u64 sock);

/*
 * For how long it has been seen in the queue at this address, ns; 0: it was not there at the look before. Negative: it is not
 * counted, for at a second look only that is which the first one found new.
 */
__s64 input_age_ns(__u64 address, __u64 input);
