/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which connection it is whose data wakes a thread that waits for many. */
#include "file_fixture.h"
#include "test.h"

enum {
	FAMILY_UNIX = 1,
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
	TCP = 6,
	UDP = 17,
	EPOLL = 0, /* descriptors */
	CONNECTION = 3,
	SOFTIRQ = 1 << 8,
	HARDIRQ = 1 << 16,
	PORT_HIGH = 32768,
	SOON_NS = 100000,
	POLLERS = 4,
};

static struct super_block anonymous = { .s_dev = 9, .s_magic = 0x09041934 }, sockets = { .s_dev = 8 };
static struct inode epoll_inode = { .i_mode = 0600, .i_nlink = 1, .i_ino = 7, .i_sb = &anonymous };
static struct dentry epoll_dentry = { .d_parent = &epoll_dentry, .d_name.name = (const unsigned char *)"[eventpoll]" };
static char epolls[POLLERS + 1]; /* by their addresses */
static struct file epoll_file = { .f_inode = &epoll_inode, .f_path.dentry = &epoll_dentry, .private_data = &epolls[0] };

/* A connection with all that hangs on it, and those that poll it. */
static struct {
	struct file file;
	struct socket_alloc alloc;
	struct tcp_sock tcp;
	struct hlist_head pollers;
	struct epitem items[POLLERS + 1];
} here;

static struct sock *sock = &here.tcp.inet_conn.icsk_inet.sk;

static void set_ports(uint16_t local, uint16_t peer)
{
	sock->__sk_common.skc_num = local;
	sock->__sk_common.skc_dport = __builtin_bswap16(peer);
}

/* Polled by so many; the i-th is polled by the epoll that waits. */
static void set_pollers(size_t count, size_t mine)
{
	here.pollers.first = count ? &here.items[0].fllink : NULL;
	for (size_t i = 0; i < count; i++) {
		here.items[i].ep = &epolls[i == mine ? 0 : i + (i < mine)];
		here.items[i].fllink.next = i + 1 < count ? &here.items[i + 1].fllink : NULL;
	}
}

static void begin(void)
{
	files_begin();
	memset(&here, 0, sizeof(here));
	here.alloc.vfs_inode = (struct inode){ .i_mode = 0140777, .i_nlink = 1, .i_ino = 5001, .i_sb = &sockets };
	here.alloc.socket = (struct socket){ .file = &here.file, .sk = sock };
	here.file = (struct file){
		.f_inode = &here.alloc.vfs_inode,
		.private_data = &here.alloc.socket,
		.f_ep = &here.pollers,
	};
	here.tcp.first_tx_mstamp = 77;
	sock->__sk_common.skc_family = FAMILY_IPV4;
	sock->sk_type = 1;
	sock->sk_protocol = TCP;
	sock->sk_socket = &here.alloc.socket;
	set_ports(40000, 8080);
	set_pollers(1, 0);
	descriptors[EPOLL] = &epoll_file;
	descriptors[CONNECTION] = &here.file;
}

/*
 * The reader waits for the descriptor; data comes to the connection, and so much later something wakes the reader.
 * Returns what is recorded of that; its file is 0 when nothing is.
 */
static struct ev_sched_ready wake(uint64_t descriptor, int preempt_count, uint64_t later_ns)
{
	struct ev_sched_ready ready = { 0 };
	const struct ev_header *header;
	bool is_woken = false;

	wait_for(descriptor);
	shim_thread(&reader->task)->phase = PHASE_BLOCKED;
	shim_current = &world.idle[0].task;
	data_ready(NULL, sock);
	shim_now_ns += later_ns;
	shim_set_preempt_count(0, preempt_count);
	sched_waking(NULL, &reader->task);
	shim_set_preempt_count(0, 0);
	while ((header = shim_read(&rings, 0, NULL))) {
		if (header->subsys != TRACE_SUBSYS_SCHED)
			continue;
		if (header->event == TRACE_EVENT_SCHED_READY) {
			CHECK(!ready.file && !is_woken);
			memcpy(&ready, header, sizeof(ready));
			CHECK_EQUAL(ready.header.thread, reader->number);
		}
		is_woken |= header->event == TRACE_EVENT_SCHED_WAKE;
	}
	CHECK(is_woken);
	shim_thread(&reader->task)->phase = PHASE_RUNNING;
	shim_current = &reader->task;
	return ready;
}

TEST(the_connection_whose_data_wakes_who_waits_for_many_is_recorded)
{
	struct ev_sched_ready ready;
	uint64_t file;

	begin();
	file = wait_for(CONNECTION);
	ready = wake(EPOLL, SOFTIRQ, 0);
	CHECK(file);
	CHECK_EQUAL(ready.file, file);
	CHECK_EQUAL(ready.asked_ns, 77000);
	/* The sender may be a thread of this machine. */
	CHECK_EQUAL(wake(EPOLL, 0, 0).file, file);
	files_end();
}

TEST(it_is_known_by_then_what_the_connection_is)
{
	begin();
	CHECK(wake(EPOLL, SOFTIRQ, 0).file);
	wait_for(CONNECTION);
	CHECK(!socket_recorded());
	files_end();
}

TEST(connections_that_others_have_made_are_not_recorded)
{
	static const struct {
		uint16_t local, peer;
		bool is_recorded;
	} ports[] = {
		{ 80, 0, false }, /* it listens */
		{ 80, PORT_HIGH, false },
		{ PORT_HIGH - 1, PORT_HIGH, false },
		{ PORT_HIGH, PORT_HIGH, true }, /* who knows */
		{ PORT_HIGH, PORT_HIGH - 1, true },
		{ PORT_HIGH - 1, PORT_HIGH - 1, true },
	};

	begin();
	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++) {
		set_ports(ports[i].local, ports[i].peer);
		CHECK_EQUAL(wake(EPOLL, SOFTIRQ, 0).file != 0, ports[i].is_recorded);
	}
	files_end();
}

TEST(only_who_polls_the_connection_is_woken_for_it)
{
	begin();
	for (size_t count = 0; count <= POLLERS; count++) {
		set_pollers(count, count);
		CHECK(!wake(EPOLL, SOFTIRQ, 0).file);
		for (size_t mine = 0; mine < count; mine++) {
			set_pollers(count, mine);
			CHECK(wake(EPOLL, SOFTIRQ, 0).file);
		}
	}
	/* The list is not followed for ever. */
	set_pollers(POLLERS + 1, POLLERS);
	CHECK(!wake(EPOLL, SOFTIRQ, 0).file);
	here.file.f_ep = NULL;
	CHECK(!wake(EPOLL, SOFTIRQ, 0).file);
	files_end();
}

TEST(who_waits_for_the_connection_alone_has_said_so)
{
	begin();
	CHECK(!wake(CONNECTION, SOFTIRQ, 0).file);
	files_end();
}

TEST(what_wakes_otherwise_is_not_the_data)
{
	begin();
	CHECK(wake(EPOLL, SOFTIRQ, SOON_NS / 2).file);
	CHECK(!wake(EPOLL, SOFTIRQ, 2 * SOON_NS).file);
	CHECK(!wake(EPOLL, HARDIRQ, 0).file);
	files_end();
}

TEST(a_socket_without_a_file_is_nobodys)
{
	begin();
	sock->sk_socket = NULL;
	CHECK(!wake(EPOLL, SOFTIRQ, 0).file);
	sock->sk_socket = &here.alloc.socket;
	here.alloc.socket.file = NULL;
	CHECK(!wake(EPOLL, SOFTIRQ, 0).file);
	files_end();
}

TEST(when_something_was_asked_is_known_of_tcp_only)
{
	static const struct {
		uint16_t family, protocol;
		uint64_t asked_ns;
	} kinds[] = {
		{ FAMILY_IPV4, TCP, 77000 }, { FAMILY_IPV6, TCP, 77000 }, { FAMILY_IPV4, UDP, 0 },
		{ FAMILY_IPV6, UDP, 0 },     { FAMILY_UNIX, TCP, 0 },
	};

	begin();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct ev_sched_ready ready;

		sock->__sk_common.skc_family = kinds[i].family;
		sock->sk_protocol = kinds[i].protocol;
		ready = wake(EPOLL, SOFTIRQ, 0);
		CHECK(ready.file);
		CHECK_EQUAL(ready.asked_ns, kinds[i].asked_ns);
	}
	files_end();
}

/* Which socket data came to, as far as that is noted. */
static uint64_t noted(void)
{
	cpu_counts[0].ready_socket = 0;
	data_ready(NULL, sock);
	return cpu_counts[0].ready_socket;
}

TEST(data_is_noted_only_while_somebody_waits_for_many)
{
	begin();
	CHECK(!noted());
	wait_for(CONNECTION);
	CHECK(!noted());
	wait_for(EPOLL);
	CHECK_EQUAL(noted(), (uint64_t)sock);
	sched_switch(NULL, false, &world.idle[0].task, &reader->task, 0);
	CHECK(!noted());
	while (shim_read(&rings, 0, NULL))
		;
	/* It waits for something else, although it polled before. */
	wait_for(EPOLL);
	wait_for(CONNECTION);
	CHECK(!noted());
	files_end();
}
