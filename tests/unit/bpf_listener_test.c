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

/* --- Input whose age is only seen ---------------------------------------------------------------- */

enum { MS = 1000000, CLOSED = 7, UDP = 17, PIPE_SLOTS = 4 };

static struct sk_buff message, next_message;
static struct udp_sock udp;
static struct pipe_inode_info pipe_info;
static struct pipe_buffer pipe_slots[PIPE_SLOTS];
static struct inode pipe_inode;
static struct file pipe_end;

/* A queue with this message at its front; NULL: with none. */
static void fill(struct sk_buff_head *queue, struct sk_buff *front)
{
	queue->next = front ? front : (struct sk_buff *)(void *)queue;
}

static void begin_inputs(void)
{
	begin_connections();
	message = (struct sk_buff){ .len = 1, .head = (unsigned char *)&message };
	next_message = (struct sk_buff){ .len = 1, .head = (unsigned char *)&next_message };
}

static void add_unix(struct sk_buff *front)
{
	make_end(&second, FAMILY_UNIX, ESTABLISHED);
	fill(&second.sock.sk.sk_receive_queue, front);
	descriptors[2] = &second.file;
}

static void add_udp(struct sk_buff *front)
{
	make_end(&first, FAMILY_IPV4, CLOSED);
	udp = (struct udp_sock){ .inet.sk = first.sock.sk };
	udp.inet.sk.sk_protocol = UDP;
	fill(&udp.inet.sk.sk_receive_queue, front);
	fill(&udp.reader_queue, NULL);
	first.alloc.socket.sk = &udp.inet.sk;
	descriptors[3] = &first.file;
}

static void add_pipe(uint32_t mode, uint32_t tail, uint32_t head)
{
	pipe_info = (struct pipe_inode_info){ head, tail, PIPE_SLOTS, PIPE_SLOTS, pipe_slots };
	memset(pipe_slots, 0, sizeof(pipe_slots));
	pipe_inode = (struct inode){ .i_mode = 0010600, .i_ino = 11 };
	pipe_end = (struct file){ .f_mode = mode, .f_inode = &pipe_inode, .private_data = &pipe_info };
	descriptors[4] = &pipe_end;
}

/* So much later; NULL: nothing is told. */
static const struct ev_file_unread *look(uint64_t later_ns, bool is_second)
{
	shim_now_ns += later_ns;
	input_look_is_second = is_second;
	if (!is_second) {
		input_look++;
		inputs_new = 0;
	}
	list(reader);
	return told_unread();
}

/* In which class of ages one input is; -1: in none. */
static int age_at(const struct ev_file_unread *e)
{
	int found = -1;

	for (int i = 0; e && i < 12; i++) {
		if (!e->seen_unread[i])
			continue;
		CHECK(found < 0);
		CHECK_EQUAL(e->seen_unread[i], 1);
		found = i;
	}
	return found;
}

TEST(what_is_in_front_of_a_unix_socket_is_as_old_as_it_was_seen_there)
{
	begin_inputs();
	add_unix(&message);
	CHECK_EQUAL(age_at(look(0, false)), 0);
	CHECK_EQUAL(inputs_new, 1);
	CHECK_EQUAL(age_at(look(100 * MS, false)), 5); /* 64 to 128 ms */
	CHECK(!inputs_new);
	CHECK_EQUAL(age_at(look(100 * MS, false)), 6);
	fill(&second.sock.sk.sk_receive_queue, &next_message);
	CHECK_EQUAL(age_at(look(100 * MS, false)), 0);
	files_end();
}

TEST(a_part_that_was_read_of_a_stream_makes_the_rest_new)
{
	begin_inputs();
	add_unix(&message);
	look(0, false);
	((struct unix_skb_parms *)message.cb)->consumed = 1;
	CHECK_EQUAL(age_at(look(100 * MS, false)), 0);
	files_end();
}

TEST(what_was_not_there_at_the_look_between_is_another_one)
{
	begin_inputs();
	add_unix(&message);
	look(0, false);
	fill(&second.sock.sk.sk_receive_queue, NULL);
	CHECK_EQUAL(age_at(look(100 * MS, false)), -1);
	fill(&second.sock.sk.sk_receive_queue, &message);
	CHECK_EQUAL(age_at(look(100 * MS, false)), 0);
	files_end();
}

TEST(so_is_what_lies_in_the_same_place_in_a_new_socket)
{
	begin_inputs();
	add_unix(&message);
	look(0, false);
	add_unix(&message); /* has another inode */
	CHECK_EQUAL(age_at(look(100 * MS, false)), 0);
	files_end();
}

TEST(a_udp_socket_is_read_from_the_queue_of_its_reader_first)
{
	begin_inputs();
	add_udp(&message);
	CHECK_EQUAL(age_at(look(0, false)), 0);
	fill(&udp.reader_queue, &message); /* who reads has moved it, and waits for memory */
	fill(&udp.inet.sk.sk_receive_queue, &next_message);
	CHECK_EQUAL(age_at(look(10 * MS, false)), 2);
	fill(&udp.reader_queue, NULL);
	CHECK_EQUAL(age_at(look(10 * MS, false)), 0);
	files_end();
}

TEST(a_read_moves_the_front_of_a_pipe)
{
	begin_inputs();
	add_pipe(1, UINT32_MAX, 3); /* goes round */
	CHECK_EQUAL(age_at(look(0, false)), 0);
	CHECK_EQUAL(age_at(look(10 * MS, false)), 2);
	pipe_slots[UINT32_MAX % PIPE_SLOTS].offset = 5;
	CHECK_EQUAL(age_at(look(10 * MS, false)), 0);
	pipe_info.tail++;
	CHECK_EQUAL(age_at(look(10 * MS, false)), 0);
	pipe_info.tail = pipe_info.head;
	CHECK_EQUAL(age_at(look(10 * MS, false)), -1);
	files_end();
}

TEST(the_end_of_a_pipe_that_is_written_to_is_no_input)
{
	begin_inputs();
	add_pipe(2, 0, 1);
	CHECK(!look(0, false));
	files_end();
}

TEST(all_kinds_of_input_are_counted)
{
	const struct ev_file_unread *e;

	begin_inputs();
	add_unix(NULL);
	add_udp(&message);
	add_pipe(1, 0, 1);
	add_connection(5, 1, 9);
	e = look(0, false);
	CHECK_EQUAL(e->inputs, 3);
	CHECK_EQUAL(e->seen_unread[0], 2);
	CHECK_EQUAL(e->connections, 1);
	CHECK(!e->is_second);
	files_end();
}

TEST(a_second_look_is_at_what_the_first_one_found_new)
{
	const struct ev_file_unread *e;

	begin_inputs();
	add_pipe(1, 0, 1);
	add_connection(5, 1, 9);
	look(0, false);
	look(100 * MS, false);
	CHECK(!look(8 * MS, true)); /* nothing was new */
	add_unix(&message);
	look(100 * MS, false);
	descriptors[1] = &first.file; /* listens, which is not told again */
	e = look(8 * MS, true);
	CHECK(e && e->is_second && !e->connections);
	CHECK_EQUAL(age_at(e), 2);
	CHECK_EQUAL(e->unread[4], 0);
	e = look(92 * MS, false);
	CHECK_EQUAL(e->seen_unread[5], 1);
	CHECK_EQUAL(e->seen_unread[7], 1);
	files_end();
}

TEST(a_second_look_tells_nothing_of_what_was_read_or_came_since)
{
	begin_inputs();
	add_unix(&message);
	look(0, false);
	fill(&second.sock.sk.sk_receive_queue, NULL);
	add_udp(&next_message);
	CHECK(!look(8 * MS, true));
	CHECK_EQUAL(age_at(look(92 * MS, false)), 0);
	files_end();
}
