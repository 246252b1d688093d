/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of objects.c, for the test to know where members are. */
#pragma once

#include <pthread.h>
#include <semaphore.h>

typedef volatile const struct counter {
	unsigned char bytes[3];
	int value;
} counter_type;

struct shard {
	long hits;
	struct {
		int depth;
		union {
			short narrow;
			long wide;
		};
	};
	pthread_mutex_t lock;
	counter_type counters[2][3];
	pthread_cond_t full;
	void *next;
};

struct sized {
	int count;
	pthread_mutex_t locks[];
};
