/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/block_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/external_threads.h"
#include "session/session.h"
#include "session/threads.h"
#include "waits/others.h"

enum { REQUESTS_MAX = 1 << 16, USERS_MAX = 1024, DEVICES_MAX = 64 };

/*
 * Each request under way has the same part of the time of its device. So what one has is the difference of the integral of
 * 1 / (requests under way) between its ends.
 */
struct device {
	uint64_t now_ns;
	double integral_ns;
	size_t open;
};

struct request {
	struct device *device;
	struct block_user *user; /* NULL: there is no space for it */
	double begin_ns;         /* of the integral */
};

struct block_users {
	struct arena *arena;
	struct threads *threads;
	const struct others *others;
	struct table *devices, *users, *requests;
};

static void advance(struct device *device, uint64_t now_ns)
{
	if (now_ns <= device->now_ns)
		return;
	if (device->open)
		device->integral_ns += (double)(now_ns - device->now_ns) / device->open;
	device->now_ns = now_ns;
}

static struct device *get_device(struct block_users *users, uint32_t number)
{
	struct device *device = table_find(users->devices, number);

	if (device || table_count(users->devices) == DEVICES_MAX)
		return device;
	device = arena_alloc(users->arena, sizeof(*device));
	table_put(users->devices, number, device);
	return device;
}

/* Threads of the program are distinguished by their names, others by their processes. */
static struct block_user describe(struct block_users *users, const struct ev_system_block_issue *e)
{
	struct block_user user = { .device = e->device, .kind = RIVAL_OTHER };
	const struct other *other = others_find(users->others, e->tid);
	const struct thread *thread = e->header.thread ? threads_get(users->threads, e->header.thread) : NULL;

	if (thread && thread_is_traced(e->header.thread)) {
		user.kind = RIVAL_PROGRAM;
	} else if (e->tid) {
		user.kind = other && other->is_kernel ? RIVAL_KERNEL : RIVAL_PROCESS;
		user.pid = thread && thread->pid ? thread->pid : other ? other->pid : e->tid;
	}
	if (thread && thread->name[0])
		memcpy(user.name, thread->name, sizeof(user.name));
	else if (other && e->tid)
		memcpy(user.name, other->name, sizeof(user.name));
	return user;
}

static struct block_user *get_user(struct block_users *users, const struct ev_system_block_issue *e)
{
	struct block_user new_user = describe(users, e), *user;
	uint64_t key = hash_u64((uint64_t)new_user.kind << 32 | new_user.device);

	key = new_user.pid ? hash_u64(key ^ new_user.pid) : hash_string(key, new_user.name);
	user = table_find(users->users, key);
	if (user || table_count(users->users) == USERS_MAX)
		return user;
	user = arena_alloc(users->arena, sizeof(*user));
	*user = new_user;
	table_put(users->users, key, user);
	return user;
}

static void end_request(struct block_users *users, uint64_t name, uint64_t now_ns)
{
	struct request *request = table_take(users->requests, name);

	if (!request)
		return;
	advance(request->device, now_ns);
	request->device->open--;
	if (request->user) {
		request->user->ns += request->device->integral_ns - request->begin_ns;
		request->user->count++;
	}
	free(request);
}

static void on_issue(void *data, const struct ev_header *header)
{
	const struct ev_system_block_issue *e = (const struct ev_system_block_issue *)header;
	struct block_users *users = data;
	struct device *device;
	struct request *request;

	/* What a busy device has given back a thread of the kernel issues again. */
	if (table_find(users->requests, e->request) || table_count(users->requests) == REQUESTS_MAX)
		return;
	device = get_device(users, e->device);
	if (!device)
		return;
	advance(device, header->time_ns);
	device->open++;
	request = xcalloc(1, sizeof(*request));
	*request = (struct request){ device, get_user(users, e), device->integral_ns };
	table_put(users->requests, e->request, request);
}

static void on_complete(void *data, const struct ev_header *header)
{
	const struct ev_system_block_complete *e = (const struct ev_system_block_complete *)header;

	if (e->is_last)
		end_request(data, e->request, header->time_ns);
}

/* What is under way by now is not known. */
static void on_lost(void *data, const struct ev_header *header __attribute__((unused)))
{
	struct block_users *users = data;
	struct request *request;
	size_t cursor = 0;

	while ((request = table_next(users->requests, &cursor))) {
		request->device->open = 0;
		free(request);
	}
	table_free(users->requests);
	users->requests = table_new();
}

static const struct event_handler handlers[] = {
	{ EV_SYSTEM_BLOCK_ISSUE, on_issue },
	{ EV_SYSTEM_BLOCK_COMPLETE, on_complete },
	{ EV_SYSTEM_LOST, on_lost },
	{ 0, NULL },
};

struct block_users *block_users_new(struct session *session, struct threads *threads, const struct others *others)
{
	struct block_users *users = xcalloc(1, sizeof(*users));

	users->arena = arena_new();
	users->threads = threads;
	users->others = others;
	users->devices = table_new();
	users->users = table_new();
	users->requests = table_new();
	session_subscribe(session, handlers, users);
	return users;
}

void block_users_free(struct block_users *users)
{
	if (!users)
		return;
	on_lost(users, NULL);
	table_free(users->requests);
	table_free(users->devices);
	table_free(users->users);
	arena_free(users->arena);
	free(users);
}

const struct block_user *block_users_next(const struct block_users *users, size_t *cursor)
{
	return table_next(users->users, cursor);
}
