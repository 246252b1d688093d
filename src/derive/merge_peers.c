/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/table.h"
#include "derive/merge_host.h"
#include "derive/merge_source.h"
#include "derive/merge_threads.h"
#include "session/external_threads.h"

enum { SOCKETS_MAX = 1 << 20, THREADS_MAX = 1 << 22, ARRIVALS_MAX = 1 << 22 };

struct peer_socket {
	uint64_t other_end; /* its key */
	struct merge_host *host;
	struct arrivals arrivals;
	uint32_t user; /* the thread that had data of it last; 0: none */
	/* Who waits for that first, as its trace has it; NULL: nobody. */
	const struct merge_source *source;
	uint32_t first_user;
};

struct peer_thread {
	uint64_t file;     /* that it waits for; 0: none */
	uint64_t since_ns; /* when it blocked last, by its host's own clock; 0: not known */
};

struct merge_peers {
	struct arena *arena;
	struct table *by_file; /* struct peer_socket */
	struct table *by_ends; /* the same: the last one with these addresses and ports */
	struct table *threads; /* by number: struct peer_thread */
	struct table *learned; /* the same of the source that is learned of, by its numbers */
	const struct merge_source *source;
	size_t arrival_count;
	uint64_t count;
};

struct merge_peers *merge_peers_new(void)
{
	struct merge_peers *peers = xcalloc(1, sizeof(*peers));

	peers->arena = arena_new();
	peers->by_file = table_new();
	peers->by_ends = table_new();
	peers->threads = table_new();
	peers->learned = table_new();
	return peers;
}

void merge_peers_free(struct merge_peers *peers)
{
	struct peer_socket *socket;
	size_t cursor = 0;

	if (!peers)
		return;
	while ((socket = table_next(peers->by_file, &cursor)))
		free(socket->arrivals.list);
	table_free(peers->by_file);
	table_free(peers->by_ends);
	table_free(peers->threads);
	table_free(peers->learned);
	arena_free(peers->arena);
	free(peers);
}

/* An address of IPv4, also as one of IPv6, has one number. */
static uint64_t hash_address(uint16_t family, const uint8_t *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint64_t words[2];

	if (family == AF_INET6 && memcmp(address, mapped, sizeof(mapped)) != 0) {
		memcpy(words, address, sizeof(words));
		return hash_u64(words[0] ^ hash_u64(words[1]));
	}
	words[0] = 0;
	memcpy(words, family == AF_INET6 ? address + sizeof(mapped) : address, 4);
	return words[0];
}

static uint64_t ends_key(const struct ev_file_socket *e, uint64_t from, uint16_t from_port, uint64_t to,
			 uint16_t to_port)
{
	uint64_t ports = (uint64_t)e->type << 32 | (uint32_t)from_port << 16 | to_port;

	return hash_u64(from ^ hash_u64(to ^ hash_u64(ports)));
}

static void learn_socket(struct merge_peers *peers, struct merge_host *host, const struct ev_file_socket *e)
{
	uint64_t file = merge_host_name(host, e->file), local, peer;
	struct peer_socket *socket;

	if ((e->family != AF_INET && e->family != AF_INET6) || !e->peer_port)
		return;
	local = hash_address(e->family, e->local);
	peer = hash_address(e->family, e->peer);
	socket = table_find(peers->by_file, file);
	if (!socket) {
		if (table_count(peers->by_file) == SOCKETS_MAX)
			return;
		socket = arena_alloc(peers->arena, sizeof(*socket));
		table_put(peers->by_file, file, socket);
	}
	socket->host = host;
	socket->other_end = ends_key(e, peer, e->peer_port, local, e->local_port);
	table_put(peers->by_ends, ends_key(e, local, e->local_port, peer, e->peer_port), socket);
}

static void learn_user(struct merge_peers *peers, const struct merge_source *source, uint32_t thread, uint64_t file)
{
	struct peer_socket *socket = table_find(peers->by_file, merge_host_name(source->host, file));

	if (!socket || socket->source || !thread_is_traced(thread))
		return;
	socket->source = source;
	socket->first_user = thread;
}

static void set_file(struct merge_peers *peers, struct table *threads, uint32_t thread, uint64_t file)
{
	struct peer_thread *waiter = table_find(threads, thread);

	if (!waiter) {
		if (!file || table_count(threads) == THREADS_MAX)
			return;
		waiter = arena_alloc(peers->arena, sizeof(*waiter));
		table_put(threads, thread, waiter);
	}
	waiter->file = file;
}

/* The socket for which a thread has waited so far; NULL: it was for something else. */
static struct peer_socket *take_socket(struct merge_peers *peers, struct table *threads, uint32_t thread)
{
	struct peer_thread *waiter = table_find(threads, thread);
	struct peer_socket *socket = waiter && waiter->file ? table_find(peers->by_file, waiter->file) : NULL;

	if (waiter)
		waiter->file = 0;
	return socket;
}

bool merge_peers_is_arrival(const struct ev_sched_wake *e)
{
	return (e->context == WAKE_SOFTIRQ || e->context == WAKE_KERNEL_THREAD) &&
	       !(e->flags & (WAKE_BY_TIMER | WAKE_TO_DIE));
}

static void learn_arrival(struct merge_peers *peers, const struct ev_sched_wake *e)
{
	struct peer_socket *socket = take_socket(peers, peers->learned, e->header.thread);
	const struct peer_thread *waiter = table_find(peers->learned, e->header.thread);
	struct arrivals *arrivals;

	if (!socket || !merge_peers_is_arrival(e) || peers->arrival_count == ARRIVALS_MAX)
		return;
	arrivals = &socket->arrivals;
	/* Two pinches may have seen the same. */
	if (arrivals->count && arrivals->list[arrivals->count - 1].time_ns >= e->header.time_ns)
		return;
	ARRAY_GROW(arrivals->list, arrivals->count, arrivals->capacity, 16);
	arrivals->list[arrivals->count++] = (struct arrival){ waiter->since_ns, e->header.time_ns };
	peers->arrival_count++;
}

static void begin_source(struct merge_peers *peers, const struct merge_source *source)
{
	if (peers->source == source)
		return;
	table_free(peers->learned);
	peers->learned = table_new();
	peers->source = source;
}

static void learn_wait(struct merge_peers *peers, const struct merge_source *source, uint32_t thread, uint64_t file)
{
	learn_user(peers, source, thread, file);
	set_file(peers, peers->learned, thread, merge_host_name(source->host, file));
}

static void learn_switch(struct merge_peers *peers, const struct merge_source *source, const struct ev_sched_switch *e)
{
	struct peer_thread *waiter;

	learn_wait(peers, source, e->header.thread, e->state == SWITCH_RUNNABLE ? 0 : e->object);
	waiter = table_find(peers->learned, e->header.thread);
	if (waiter)
		waiter->since_ns = e->header.time_ns;
}

void merge_peers_learn(struct merge_peers *peers, const struct merge_source *source, const struct ev_header *header)
{
	begin_source(peers, source);
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_FILE_SOCKET:
		learn_socket(peers, source->host, (const void *)header);
		break;
	case EV_SCHED_SWITCH:
		learn_switch(peers, source, (const void *)header);
		break;
	case EV_SCHED_READY:
		learn_wait(peers, source, header->thread, ((const struct ev_sched_ready *)header)->file);
		break;
	case EV_SCHED_WAKE:
		learn_arrival(peers, (const void *)header);
		break;
	}
}

void merge_peers_wait(struct merge_peers *peers, uint32_t thread, uint64_t file)
{
	set_file(peers, peers->threads, thread, file);
}

/* 0: nobody, or somebody who is not there yet. */
static uint32_t user_of(const struct peer_socket *socket)
{
	const struct merge_thread *first;

	if (socket->user || !socket->source)
		return socket->user;
	first = table_find(socket->source->numbers, socket->first_user);
	return first ? first->number : 0;
}

uint32_t merge_peers_wake(struct merge_peers *peers, uint32_t thread)
{
	struct peer_socket *socket = take_socket(peers, peers->threads, thread);
	const struct peer_socket *other;
	uint32_t user;

	if (!socket)
		return 0;
	socket->user = thread;
	other = table_find(peers->by_ends, socket->other_end);
	user = other && other->host != socket->host ? user_of(other) : 0;
	peers->count += user != 0;
	return user;
}

uint64_t merge_peers_count(const struct merge_peers *peers)
{
	return peers->count;
}

struct peer_ends merge_peers_next(const struct merge_peers *peers, size_t *cursor)
{
	struct peer_socket *socket, *other;

	while ((socket = table_next(peers->by_file, cursor))) {
		other = table_find(peers->by_ends, socket->other_end);
		if (other && other->host != socket->host)
			return (struct peer_ends){ { other->host, socket->host },
						   { &other->arrivals, &socket->arrivals } };
	}
	return (struct peer_ends){ 0 };
}
