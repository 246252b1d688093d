/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/fair_lock.h"

void fair_lock_init(struct fair_lock *lock)
{
	*lock = (struct fair_lock){ 0 };
	pthread_mutex_init(&lock->mutex, NULL);
	pthread_cond_init(&lock->changed, NULL);
}

void fair_lock_fini(struct fair_lock *lock)
{
	pthread_cond_destroy(&lock->changed);
	pthread_mutex_destroy(&lock->mutex);
}

/* With the mutex. */
static void queue(struct fair_lock *lock)
{
	uint64_t number = lock->next++;

	while (lock->served != number)
		pthread_cond_wait(&lock->changed, &lock->mutex);
}

static void serve_next(struct fair_lock *lock)
{
	lock->served++;
	pthread_cond_broadcast(&lock->changed);
}

void fair_lock_take(struct fair_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	queue(lock);
	pthread_mutex_unlock(&lock->mutex);
}

void fair_lock_give(struct fair_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	serve_next(lock);
	pthread_mutex_unlock(&lock->mutex);
}

bool fair_lock_is_wanted(struct fair_lock *lock)
{
	bool is_wanted;

	pthread_mutex_lock(&lock->mutex);
	is_wanted = lock->next > lock->served + 1;
	pthread_mutex_unlock(&lock->mutex);
	return is_wanted;
}

void fair_lock_wait(struct fair_lock *lock)
{
	uint64_t wakes;

	pthread_mutex_lock(&lock->mutex);
	serve_next(lock);
	for (wakes = lock->wakes; wakes == lock->wakes;)
		pthread_cond_wait(&lock->changed, &lock->mutex);
	queue(lock);
	pthread_mutex_unlock(&lock->mutex);
}

void fair_lock_wake(struct fair_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	lock->wakes++;
	pthread_cond_broadcast(&lock->changed);
	pthread_mutex_unlock(&lock->mutex);
}
