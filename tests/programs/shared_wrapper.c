// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottlenecks: two threads wait in one function, wait_for(), for conditions that have no names: `packer` for
 * the orders that `buyer` makes slowly, and `driver` for the parcels that `packer` makes.
 * Known answer: two findings, not one: wait_for() called by take_order(), and called by take_parcel().
 */
#include "roles.h"

enum { ORDERS = 20, ORDER_MS = 20, PARCEL_MS = 10 };

struct channel {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count; /* owned by lock */
};

static struct channel *orders, *parcels;

static OWN_FRAME void wait_for(struct channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	while (!channel->count)
		pthread_cond_wait(&channel->changed, &channel->lock);
	channel->count--;
	pthread_mutex_unlock(&channel->lock);
}

static OWN_FRAME void tell(struct channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	channel->count++;
	pthread_cond_signal(&channel->changed);
	pthread_mutex_unlock(&channel->lock);
}

static OWN_FRAME void make_order(void)
{
	compute_ms(ORDER_MS);
	tell(orders);
}

static OWN_FRAME void take_order(void)
{
	wait_for(orders);
}

static OWN_FRAME void make_parcel(void)
{
	compute_ms(PARCEL_MS);
	tell(parcels);
}

static OWN_FRAME void take_parcel(void)
{
	wait_for(parcels);
}

static void buy(int number)
{
	for (number = 0; number < ORDERS; number++)
		make_order();
}

static void pack(int number)
{
	for (number = 0; number < ORDERS; number++) {
		take_order();
		make_parcel();
	}
}

static void drive(int number)
{
	for (number = 0; number < ORDERS; number++)
		take_parcel();
}

static struct channel *open_channel(void)
{
	struct channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		die("calloc");
	pthread_mutex_init(&channel->lock, NULL);
	pthread_cond_init(&channel->changed, NULL);
	return channel;
}

int main(void)
{
	struct role roles[3];

	orders = open_channel();
	parcels = open_channel();
	role_start(&roles[0], "buyer", buy, 0);
	role_start(&roles[1], "packer", pack, 0);
	role_start(&roles[2], "driver", drive, 0);
	role_join_all(roles, 3);
	free(orders);
	free(parcels);
	return 0;
}
