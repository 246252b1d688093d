/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/answer_thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

struct answer_thread {
	pthread_t id;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t has_changed;
	void (*work)(void *data); /* NULL: there is none, or it is done */
	void *data;
	bool is_ending;
};

/* The caller has the lock, also then. */
static void do_work(struct answer_thread *thread)
{
	pthread_mutex_unlock(&thread->lock);
	thread->work(thread->data);
	pthread_mutex_lock(&thread->lock);
	thread->work = NULL;
	pthread_cond_signal(&thread->has_changed);
}

static void *run(void *data)
{
	struct answer_thread *thread = data;

	pthread_mutex_lock(&thread->lock);
	while (!thread->is_ending)
		if (thread->work)
			do_work(thread);
		else
			pthread_cond_wait(&thread->has_changed, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

static int start(struct answer_thread *thread, size_t stack_bytes)
{
	pthread_attr_t attributes;
	int err;

	pthread_attr_init(&attributes);
	err = pthread_attr_setstacksize(&attributes, stack_bytes + ANSWER_GUARD_BYTES);
	if (!err)
		err = pthread_attr_setguardsize(&attributes, ANSWER_GUARD_BYTES);
	if (!err)
		err = pthread_create(&thread->id, &attributes, run, thread);
	pthread_attr_destroy(&attributes);
	return -err;
}

static void release(struct answer_thread *thread)
{
	pthread_cond_destroy(&thread->has_changed);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

struct answer_thread *answer_thread_new(size_t stack_bytes)
{
	struct answer_thread *thread = xcalloc(1, sizeof(*thread));

	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->has_changed, NULL);
	if (!start(thread, stack_bytes))
		return thread;
	release(thread);
	return NULL;
}

void answer_thread_free(struct answer_thread *thread)
{
	if (!thread)
		return;
	pthread_mutex_lock(&thread->lock);
	thread->is_ending = true;
	pthread_cond_signal(&thread->has_changed);
	pthread_mutex_unlock(&thread->lock);
	pthread_join(thread->id, NULL);
	release(thread);
}

void answer_thread_do(struct answer_thread *thread, void (*work)(void *data), void *data)
{
	pthread_mutex_lock(&thread->lock);
	thread->work = work;
	thread->data = data;
	pthread_cond_signal(&thread->has_changed);
	while (thread->work)
		pthread_cond_wait(&thread->has_changed, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
}
