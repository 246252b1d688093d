/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is reported of the sockets at which a traced process listens, and of those with input that it has not read. */
#include "test.h"
#include "file_fixture.h"

enum { FAMILY_UNIX = 1, FAMILY_IPV4 = 2, LISTENING = 10, ESTABLISHED = 1, TCP = 6, MANY = 5000, TICK_NS = 4000000 };

static struct super_block sockets = { .s_dev = 8, .s_magic = 0x534f434b };

struct end {
	struct file file;
	struct socket_alloc alloc;
	struct unix_sock sock;
};

static struct end first, second;

static void make_end(struct end *end, uint16_t family, uint8_t state)
{
	static unsigned long inodes = 7000;
	struct sock *sock = &end->sock.sk;

	*end = (struct end){ 0 };
	end->alloc.vfs_inode = (struct inode){ .i_mode = 0140777, .i_nlink = 1, .i_ino = ++inodes, .i_sb = &sockets };
	end->alloc.socket = (struct socket){ .file = &end->file, .sk = sock };
	end->file = (struct file){ .f_inode = &end->alloc.vfs_inode, .private_data = &end->alloc.socket };
	sock->__sk_common.skc_family = family;
	sock->__sk_common.skc_state = state;
	sock->sk_type = 1;
	sock->sk_socket = &end->alloc.socket;
}

static void begin(void)
{
	files_begin();
	make_end(&first, FAMILY_IPV4, LISTENING);
	make_end(&second, FAMILY_UNIX, LISTENING);
	first.sock.sk.__sk_common.skc_num = 80;
	first.sock.sk.sk_ack_backlog = 3;
	first.sock.sk.sk_max_ack_backlog = 128;
	first.sock.sk.sk_drops.counter = 17;
	second.sock.sk.sk_receive_queue.qlen = 2;
	second.sock.sk.sk_max_ack_backlog = 5;
	while (shim_read(&rings, 0, NULL))
		;
}

static void list(struct world_task *task)
{
	list_listeners(&(struct bpf_iter__task){ .task = &task->task });
}

/* The next one that is reported; NULL: no more. */
static const struct ev_file_listener *told(void)
{
	const struct ev_header *header;

	while ((header = shim_read(&rings, 0, NULL)))
		if (header->subsys == TRACE_SUBSYS_FILE && header->event == TRACE_EVENT_FILE_LISTENER)
			return (const struct ev_file_listener *)header;
	return NULL;
}

TEST(a_listening_socket_tells_how_many_wait_and_were_dropped)
{
	const struct ev_file_listener *e;

	begin();
	descriptors[3] = &first.file;
	list(reader);
	e = told();
	CHECK(e && e->file);
	CHECK_EQUAL(e->header.thread, shim_thread(&reader->task)->thread);
	CHECK_EQUAL(e->pid, (uint32_t)reader->task.tgid);
	CHECK_EQUAL(e->waiting, 3);
	CHECK_EQUAL(e->capacity, 129);
	CHECK_EQUAL(e->drops, 17);
	CHECK(!told());
	files_end();
}

TEST(of_a_unix_socket_the_queue_is_that_of_messages)
{
	const struct ev_file_listener *e;

	begin();
	descriptors[5] = &second.file;
	list(reader);
	e = told();
	CHECK(e);
	CHECK_EQUAL(e->waiting, 2);
	CHECK_EQUAL(e->capacity, 6);
	CHECK(!e->drops);
	files_end();
}

TEST(each_socket_has_its_name_and_is_told_each_time)
{
	uint64_t file;

	begin();
	descriptors[0] = &first.file;
	descriptors[DESCRIPTORS - 1] = &second.file;
	for (int i = 0; i < 2; i++) {
		list(reader);
		file = told()->file;
		CHECK_THAT(file, !=, told()->file);
		CHECK(!told());
	}
	files_end();
}

TEST(other_descriptors_are_none)
{
	static struct super_block super;
	static struct inode inode = { .i_mode = 0100600, .i_ino = 1, .i_sb = &super };
	static struct file regular = { .f_inode = &inode };

	begin();
	make_end(&first, FAMILY_IPV4, ESTABLISHED);
	descriptors[1] = &first.file;
	descriptors[2] = &regular;
	second.alloc.socket.sk = NULL;
	descriptors[3] = &second.file;
	list(reader);
	CHECK(!told());
	files_end();
}

TEST(a_process_that_is_not_traced_has_ended_or_has_no_descriptors_tells_nothing)
{
	struct world_task *other;

	begin();
	descriptors[3] = &first.file;
	other = world_add_task(&world, NULL);
	other->task.files = &files;
	list(other);
	CHECK(!told());
	reader->task.files = NULL;
	list(reader);
	CHECK(!told());
	CHECK(!list_listeners(&(struct bpf_iter__task){ .task = NULL }));
	files_end();
}

TEST(of_many_descriptors_the_first_ones_are_looked_at_and_of_many_sockets_16_told)
{
	static struct file *many[MANY];
	static struct fdtable table = { MANY, many };
	static struct files_struct many_files = { &table };
	size_t count = 0;

	begin();
	reader->task.files = &many_files;
	many[4095] = &first.file;
	many[4096 + 16] = &second.file;
	list(reader);
	CHECK(told() && !told());
	for (size_t i = 0; i < MANY; i++)
		many[i] = &first.file;
	list(reader);
	while (told())
		count++;
	CHECK_EQUAL(count, 16);
	files_end();
}

TEST(a_limit_that_has_no_end_stays_a_number)
{
	begin();
	first.sock.sk.sk_max_ack_backlog = UINT32_MAX;
	descriptors[3] = &first.file;
	list(reader);
	CHECK_EQUAL(told()->capacity, UINT32_MAX);
	files_end();
}

/* --- Input ------------------------------------------------------------------------------------- */

struct connection {
	struct file file;
	struct socket_alloc alloc;
	struct tcp_sock tcp;
};

static struct connection connections[DESCRIPTORS];

/* A connection with so many bytes that were not read, of which the last came so many ticks ago. */
static void add_connection(size_t at, uint32_t unread, uint32_t ticks)
{
	struct connection *c = &connections[at];
	struct sock *sock = &c->tcp.inet_conn.icsk_inet.sk;

	*c = (struct connection){ 0 };
	c->alloc.vfs_inode = (struct inode){ .i_mode = 0140777, .i_nlink = 1, .i_ino = 9000 + at, .i_sb = &sockets };
	c->alloc.socket = (struct socket){ .file = &c->file, .sk = sock };
	c->file = (struct file){ .f_inode = &c->alloc.vfs_inode, .private_data = &c->alloc.socket };
	sock->__sk_common.skc_family = FAMILY_IPV4;
	sock->__sk_common.skc_state = ESTABLISHED;
	sock->sk_protocol = TCP;
	c->tcp.copied_seq = UINT32_MAX - 1; /* goes round */
	c->tcp.rcv_nxt = c->tcp.copied_seq + unread;
	c->tcp.inet_conn.icsk_ack.lrcvtime = (uint32_t)shim_jiffies - ticks;
	descriptors[at] = &c->file;
}

static const struct ev_file_unread *told_unread(void)
{
	const struct ev_header *header;

	while ((header = shim_read(&rings, 0, NULL)))
		if (header->subsys == TRACE_SUBSYS_FILE && header->event == TRACE_EVENT_FILE_UNREAD)
			return (const struct ev_file_unread *)header;
	return NULL;
}

static void begin_connections(void)
{
	begin();
	shim_set_option(jiffy_ns, TICK_NS);
	shim_jiffies = (1ull << 32) + 3; /* ticks have 32 bits there */
}

TEST(unread_input_is_counted_by_the_least_time_that_it_can_have_been_there)
{
	const struct ev_file_unread *e;

	begin_connections();
	add_connection(0, 0, 1000); /* was read */
	add_connection(1, 5, 0);
	add_connection(2, 5, 1);
	add_connection(3, 5, 2); /* 4 ms at least: the tick before the last one began so long ago */
	add_connection(4, 1, 3);
	add_connection(5, 1, 9);
	add_connection(6, 1, 1024);
	add_connection(7, 1, 1025);
	list(reader);
	e = told_unread();
	CHECK(e);
	CHECK_EQUAL(e->header.thread, shim_thread(&reader->task)->thread);
	CHECK_EQUAL(e->pid, (uint32_t)reader->task.tgid);
	CHECK_EQUAL(e->connections, 8);
	CHECK_EQUAL(e->unread[0], 2);
	CHECK_EQUAL(e->unread[1], 1);
	CHECK_EQUAL(e->unread[2], 1);
	CHECK_EQUAL(e->unread[4], 1);
	CHECK_EQUAL(e->unread[10], 1);
	CHECK_EQUAL(e->unread[11], 1);
	CHECK(!told_unread());
	files_end();
}

TEST(a_process_without_connections_tells_nothing_of_input)
{
	begin_connections();
	descriptors[3] = &first.file;
	make_end(&second, FAMILY_UNIX, ESTABLISHED);
	descriptors[4] = &second.file;
	list(reader);
	CHECK(!told_unread());
	files_end();
}

TEST(connections_are_counted_beside_listening_sockets)
{
	begin_connections();
	add_connection(1, 0, 0);
	descriptors[3] = &first.file;
	add_connection(5, 0, 0);
	descriptors[6] = &second.file;
	list(reader);
	CHECK_EQUAL(told_unread()->connections, 2);
	files_end();
}
