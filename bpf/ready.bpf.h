/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which connection it is whose data wakes a thread that waits for many (epoll). The kernel tells of the socket just before it
 * wakes whoever waits (bpf/ready.bpf.c), on the same CPU and for the same thread or interrupt. That the thread waits for it is
 * proved by the list of those that poll it.
 */
#pragma once

#include "file.bpf.h"

enum {
	READY_AGE_NS = 100000, /* between the two */
	POLLERS_MAX = 4,
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
	PROTOCOL_TCP = 6,
	US_NS = 1000,
	PORT_CONNECTING_FIRST = 32768, /* what Linux gives to who connects, unless configured otherwise */
};

/* Only the CPU that switches the thread says so. */
static __always_inline void polling_set(struct thread_state *thread, bool is_polling)
{
	if (thread->is_polling == is_polling)
		return;
	thread->is_polling = is_polling;
	__sync_fetch_and_add(&polls_open, is_polling ? 1 : -1);
}

static __always_inline bool waits_for_epoll(const struct thread_state *thread)
{
	return thread->file_polls && thread->wait_object == thread->file;
}

/* Whether the ports say that others have connected to this end. */
static __always_inline bool is_server_end(struct sock *sock)
{
	__u16 local = BPF_CORE_READ(sock, __sk_common.skc_num);
	__u16 peer = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));

	if (!peer)
		return true;
	return peer >= PORT_CONNECTING_FIRST && local < PORT_CONNECTING_FIRST;
}

/* Whether what a thread waits for, with others, is this file. */
static __always_inline bool is_polled_by(struct file *file, __u64 eventpoll)
{
	struct hlist_head *pollers = BPF_CORE_READ(file, f_ep);
	struct hlist_node *node = pollers ? BPF_CORE_READ(pollers, first) : NULL;

	for (int i = 0; i < POLLERS_MAX && node; i++) {
		struct epitem *item = (void *)node - bpf_core_field_offset(struct epitem, fllink);

		if ((__u64)BPF_CORE_READ(item, ep) == eventpoll)
			return true;
		node = BPF_CORE_READ(node, next);
	}
	return false;
}

static __always_inline __u64 asked_ns(struct sock *sock)
{
	__u16 family = BPF_CORE_READ(sock, __sk_common.skc_family);

	if ((family != FAMILY_IPV4 && family != FAMILY_IPV6) || BPF_CORE_READ(sock, sk_protocol) != PROTOCOL_TCP)
		return 0;
	return BPF_CORE_READ((struct tcp_sock *)sock, first_tx_mstamp) * US_NS;
}

/* A function of its own, for the verifier examines it once then. */
__noinline int ready_send(__u64 address, struct thread_state *thread)
{
	struct sock *sock = (struct sock *)address;
	struct ev_sched_ready *e;
	struct socket *socket;
	struct file *file;
	__u64 name;

	if (!thread || is_server_end(sock))
		return 0;
	socket = BPF_CORE_READ(sock, sk_socket);
	file = socket ? BPF_CORE_READ(socket, file) : NULL;
	if (!file || !is_polled_by(file, thread->file_private))
		return 0;
	name = file_name((__u64)file, (__u64)BPF_CORE_READ(file, f_inode), SCRATCH_OF_SWITCHES);
	if (!name)
		return 0;
	e = event_reserve(EV_SCHED_READY, thread->thread, sizeof(*e));
	if (!e)
		return 0;
	e->file = name;
	e->asked_ns = asked_ns(sock);
	event_submit(e);
	return 0;
}

/* A thread is about to be woken from a wait. */
static __always_inline void ready_emit(struct cpu_counts *here, struct thread_state *thread, __u8 context)
{
	if (!here->ready_socket || context == WAKE_HARDIRQ || !waits_for_epoll(thread))
		return;
	if (here->ready_task != (__u64)bpf_get_current_task_btf() || bpf_ktime_get_ns() - here->ready_ns > READY_AGE_NS)
		return;
	ready_send(here->ready_socket, thread);
}
