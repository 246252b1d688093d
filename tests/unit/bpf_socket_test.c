/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets that threads wait for: their ends, and what they are called. */
#include "test.h"
#include "file_fixture.h"

enum { FAMILY_UNIX = 1, FAMILY_IPV4 = 2, FAMILY_IPV6 = 10, FAMILY_NETLINK = 16 };

static struct super_block sockets = { .s_dev = 8, .s_magic = 0x534f434b };

/* A Unix socket's address, with what lies behind it in memory. */
struct address {
	struct unix_address address;
	unsigned short family;
	char name[300];
};

/* A socket with all that hangs on it. */
struct end {
	struct file file;
	struct socket_alloc alloc;
	struct unix_sock sock;
	struct address address;
	struct pid peer_pid;
	struct task_struct peer_process;
};

static struct end here, there;

static void make_end(struct end *end, uint16_t family)
{
	static unsigned long inodes = 5000;
	struct sock *sock = &end->sock.sk;

	*end = (struct end){ 0 };
	end->alloc.vfs_inode = (struct inode){ .i_mode = 0140777, .i_nlink = 1, .i_ino = ++inodes, .i_sb = &sockets };
	end->alloc.socket = (struct socket){ .file = &end->file, .sk = sock };
	end->file = (struct file){ .f_inode = &end->alloc.vfs_inode, .private_data = &end->alloc.socket };
	sock->__sk_common.skc_family = family;
	sock->sk_type = 1;
	sock->sk_socket = &end->alloc.socket;
}

static void begin(uint16_t family)
{
	files_begin();
	make_end(&here, family);
	make_end(&there, family);
	descriptors[3] = &here.file;
	descriptors[4] = &there.file;
}

static bool is_zero(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const char *)bytes)[i])
			return false;
	return true;
}

static uint32_t network_long(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return a | b << 8 | c << 16 | (uint32_t)d << 24;
}

TEST(a_socket_of_ipv4_reports_both_ends)
{
	struct sock_common *common = &here.sock.sk.__sk_common;
	const struct ev_file_socket *e;
	uint64_t file;

	begin(FAMILY_IPV4);
	common->skc_rcv_saddr = network_long(192, 0, 2, 1);
	common->skc_daddr = network_long(198, 51, 100, 7);
	common->skc_num = 40000;
	common->skc_dport = __builtin_bswap16(5432);
	common->skc_state = 1;
	file = wait_for(3);
	e = socket_recorded();
	CHECK(file && e);
	CHECK_EQUAL(e->file, file);
	CHECK_EQUAL(e->inode, here.alloc.vfs_inode.i_ino);
	CHECK(!e->header.thread);
	CHECK_EQUAL(e->family, FAMILY_IPV4);
	CHECK_EQUAL(e->type, 1);
	CHECK_EQUAL(e->state, 1);
	CHECK(!memcmp(e->local, "\xc0\x00\x02\x01", 4) && is_zero(e->local + 4, 12));
	CHECK(!memcmp(e->peer, "\xc6\x33\x64\x07", 4) && is_zero(e->peer + 4, 12));
	CHECK_EQUAL(e->local_port, 40000);
	CHECK_EQUAL(e->peer_port, 5432);
	CHECK(!e->peer_pid && !e->peer_file && !e->path[0]);
	files_end();
}

TEST(a_socket_of_ipv6_reports_both_ends)
{
	struct sock_common *common = &here.sock.sk.__sk_common;
	const struct ev_file_socket *e;

	begin(FAMILY_IPV6);
	for (uint8_t i = 0; i < 16; i++) {
		common->skc_v6_rcv_saddr.bytes[i] = 1 + i;
		common->skc_v6_daddr.bytes[i] = 101 + i;
	}
	common->skc_num = 443;
	common->skc_dport = __builtin_bswap16(50000);
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_EQUAL(e->family, FAMILY_IPV6);
	CHECK_EQUAL(e->local_port, 443);
	CHECK_EQUAL(e->peer_port, 50000);
	for (uint8_t i = 0; i < 16; i++) {
		CHECK_EQUAL(e->local[i], 1 + i);
		CHECK_EQUAL(e->peer[i], 101 + i);
	}
	files_end();
}

TEST(a_socket_that_is_connected_again_is_another_one)
{
	struct sock_common *common = &here.sock.sk.__sk_common;
	uint64_t files_seen[4];

	begin(FAMILY_IPV4);
	for (uint32_t i = 0; i < 4; i++) {
		common->skc_daddr = network_long(192, 0, 2, i / 2);
		common->skc_dport = __builtin_bswap16(80 + i % 2);
		forget_last_file();
		files_seen[i] = wait_for(3);
		CHECK(socket_recorded());
		CHECK_EQUAL(socket_recorded()->peer_port, 80 + i % 2);
		for (uint32_t k = 0; k < i; k++)
			CHECK_THAT(files_seen[k], !=, files_seen[i]);
	}
	files_end();
}

TEST(a_socket_is_recorded_once_and_again_when_it_is_forgotten)
{
	uint64_t file;

	begin(FAMILY_IPV4);
	file = wait_for(3);
	CHECK(socket_recorded());
	CHECK_THAT(wait_for(4), !=, file);
	CHECK(socket_recorded());
	CHECK_EQUAL(wait_for(3), file);
	CHECK(!socket_recorded());
	shim_forget(&files_known);
	forget_last_file();
	CHECK_EQUAL(wait_for(3), file);
	CHECK(socket_recorded());
	CHECK_EQUAL(socket_recorded()->file, file);
	files_end();
}

/* --- Unix sockets ----------------------------------------------------------------------------- */

/* Gives the end a name of so many bytes, with rubbish behind it. */
static void bind_to(struct end *end, const char *name, size_t bytes)
{
	memset(&end->address, 'z', sizeof(end->address) - 1);
	end->address.address.len = sizeof(end->address.family) + bytes;
	end->address.family = FAMILY_UNIX;
	memcpy(end->address.name, name, bytes);
	end->sock.addr = &end->address.address;
}

static void connect_ends(void)
{
	here.sock.peer = &there.sock.sk;
	there.sock.peer = &here.sock.sk;
	here.peer_pid.numbers[0].nr = 301;
	here.sock.sk.sk_peer_pid = &here.peer_pid;
	here.peer_pid.tasks[PIDTYPE_TGID].first = &here.peer_process.pid_links[PIDTYPE_TGID];
	strcpy(here.peer_process.comm, "server");
}

TEST(a_unix_socket_with_a_name_reports_it)
{
	static const char name[] = "/run/server.socket";
	const struct ev_file_socket *e;

	begin(FAMILY_UNIX);
	bind_to(&here, name, sizeof(name));
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_EQUAL(e->family, FAMILY_UNIX);
	CHECK_STRING(e->path, name);
	CHECK(!e->peer_file && !e->peer_pid && !e->local_port && !e->peer_port);
	CHECK(is_zero(e->local, sizeof(e->local)) && is_zero(e->peer, sizeof(e->peer)));
	files_end();
}

TEST(an_abstract_name_is_recorded_with_an_at_sign_and_without_what_lies_behind_it)
{
	begin(FAMILY_UNIX);
	for (uint32_t length = 0; length <= 107; length++) {
		char name[109] = "";
		const char *path;

		memset(name + 1, 'a' + length % 26, length);
		bind_to(&here, name, 1 + length);
		here.alloc.vfs_inode.i_ino += 1000;
		CHECK(wait_for(3));
		CHECK(socket_recorded());
		path = socket_recorded()->path;
		CHECK_EQUAL(path[0], '@');
		CHECK_EQUAL(strlen(path), 1 + length);
		CHECK_STRING(path + 1, name + 1);
	}
	files_end();
}

TEST(a_socket_without_a_name_reports_that_of_the_other_end)
{
	static const char name[] = "/run/server.socket";
	const struct ev_file_socket *e;

	begin(FAMILY_UNIX);
	bind_to(&there, name, sizeof(name));
	connect_ends();
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_STRING(e->path, name);
	CHECK_EQUAL(e->peer_pid, 301);
	CHECK(e->has_process);
	CHECK_STRING(peer_process(), "server");
	CHECK_EQUAL(e->peer_file, there.alloc.vfs_inode.i_ino);
	/* The other end gives its own. */
	CHECK(wait_for(4));
	e = socket_recorded();
	CHECK(e);
	CHECK_STRING(e->path, name);
	CHECK(!e->peer_pid);
	CHECK_EQUAL(e->peer_file, here.alloc.vfs_inode.i_ino);
	files_end();
}

TEST(a_process_that_has_ended_has_no_name)
{
	const struct ev_file_socket *e;

	begin(FAMILY_UNIX);
	connect_ends();
	here.peer_pid.tasks[PIDTYPE_TGID].first = NULL;
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_EQUAL(e->peer_pid, 301);
	CHECK(!e->has_process && !e->path[0]);
	files_end();
}

TEST(two_ends_without_a_name_report_each_other_s_inode)
{
	const struct ev_file_socket *e;

	begin(FAMILY_UNIX);
	connect_ends();
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e && !e->path[0]);
	CHECK_EQUAL(e->peer_file, there.alloc.vfs_inode.i_ino);
	CHECK(wait_for(4));
	e = socket_recorded();
	CHECK(e && !e->path[0]);
	CHECK_EQUAL(e->peer_file, here.alloc.vfs_inode.i_ino);
	files_end();
}

TEST(ends_that_differ_in_one_bit_of_the_other_s_inode_are_two)
{
	uint64_t file;

	begin(FAMILY_UNIX);
	connect_ends();
	there.alloc.vfs_inode.i_ino = 6000;
	file = wait_for(3);
	there.alloc.vfs_inode.i_ino = 6001;
	forget_last_file();
	CHECK_THAT(wait_for(3), !=, file);
	CHECK_EQUAL(socket_recorded()->peer_file, 6001);
	files_end();
}

TEST(an_end_whose_other_is_closed_has_no_peer)
{
	begin(FAMILY_UNIX);
	connect_ends();
	there.sock.sk.sk_socket = NULL;
	CHECK(wait_for(3) && socket_recorded() && !socket_recorded()->peer_file);
	files_end();
}

/* --- Others ----------------------------------------------------------------------------------- */

TEST(a_socket_of_another_family_reports_its_family)
{
	const struct ev_file_socket *e;

	begin(FAMILY_NETLINK);
	here.sock.sk.__sk_common.skc_num = 99; /* means something else there */
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_EQUAL(e->family, FAMILY_NETLINK);
	CHECK(!e->local_port && !e->path[0]);
	CHECK(is_zero(e->local, sizeof(e->local)) && is_zero(e->peer, sizeof(e->peer)));
	files_end();
}

TEST(a_socket_that_is_half_gone_is_recorded_without_its_ends)
{
	const struct ev_file_socket *e;

	begin(FAMILY_IPV4);
	here.alloc.socket.sk = NULL;
	CHECK(wait_for(3));
	e = socket_recorded();
	CHECK(e);
	CHECK_EQUAL(e->inode, here.alloc.vfs_inode.i_ino);
	CHECK(!e->family && !e->path[0]);
	there.file.private_data = (void *)16;
	CHECK(wait_for(4) && socket_recorded() && !socket_recorded()->family);
	files_end();
}

TEST(what_was_reported_one_socket_does_not_show_in_the_next)
{
	static const char name[] = "/run/server.socket";
	struct sock_common *common = &there.sock.sk.__sk_common;

	begin(FAMILY_UNIX);
	bind_to(&here, name, sizeof(name));
	connect_ends();
	CHECK(wait_for(3) && socket_recorded());
	make_end(&there, FAMILY_IPV4);
	common->skc_num = 80;
	CHECK(wait_for(4) && socket_recorded() && !socket_recorded()->path[0]);
	CHECK(!socket_recorded()->peer_file && !socket_recorded()->peer_pid);
	CHECK_EQUAL(recorded_bytes, sizeof(struct ev_file_socket) + 1);
	files_end();
}
