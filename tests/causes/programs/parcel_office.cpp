// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: all waits of the program go through Condition::Wait(), all wake-ups through NotifyAll(). Three
 * threads wait for parcels, which one thread packs for 20 ms each; one waits for labels, which another one prints for
 * 2 ms each. Cured: packing takes 2 ms.
 * Known answer: pack_parcel(), behind take_parcel(); not the wrapper.
 */
#include "planted.h"

enum { DRIVERS = 3, PACK_US = 20000, CURED_US = 2000, PRINT_US = 2000, PRINT_PAUSE_MS = 18 };

class Condition
{
      public:
	OWN_FRAME void Lock()
	{
		pthread_mutex_lock(&mutex);
	}
	OWN_FRAME void Unlock()
	{
		pthread_mutex_unlock(&mutex);
	}
	OWN_FRAME void Wait()
	{
		pthread_cond_wait(&changed, &mutex);
		waits++;
	}
	OWN_FRAME void NotifyAll()
	{
		pthread_cond_broadcast(&changed);
		notifications++;
	}

      private:
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
	unsigned waits = 0, notifications = 0; /* owned by mutex */
};

class Store
{
      public:
	OWN_FRAME void Put()
	{
		condition.Lock();
		count++;
		condition.NotifyAll();
		condition.Unlock();
	}
	OWN_FRAME void Get()
	{
		condition.Lock();
		while (!count)
			condition.Wait();
		count--;
		condition.Unlock();
	}

      private:
	Condition condition;
	unsigned count = 0;
};

static Store *parcels, *labels;

static OWN_FRAME void pack_parcel()
{
	burn_us(is_cured ? CURED_US : PACK_US);
	parcels->Put();
}

static OWN_FRAME void print_label()
{
	burn_us(PRINT_US);
	labels->Put();
}

static OWN_FRAME void take_parcel()
{
	parcels->Get();
	planted_done(1);
}

static OWN_FRAME void take_label()
{
	labels->Get();
	burn_us(PRINT_US / 2);
}

static void run_packer(int)
{
	for (;;)
		pack_parcel();
}

static void run_printer(int)
{
	for (;;) {
		print_label();
		sleep_ms(PRINT_PAUSE_MS);
	}
}

static void run_driver(int)
{
	for (;;)
		take_parcel();
}

static void run_gluer(int)
{
	for (;;)
		take_label();
}

int main(int argc, char **argv)
{
	struct role drivers[DRIVERS], packer, printer, gluer;

	planted_open(argc, argv);
	parcels = new Store;
	labels = new Store;
	role_start_all(drivers, DRIVERS, "driver-%d", run_driver);
	role_start(&gluer, "gluer", run_gluer, 0);
	role_start(&packer, "packer", run_packer, 0);
	role_start(&printer, "printer", run_printer, 0);
	role_join_all(drivers, DRIVERS);
	return 0;
}
