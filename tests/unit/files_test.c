/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files are called that have no path. */
#include "waits_fixture.h"

#include <sys/socket.h>

static const char *path_of(uint64_t file, uint64_t inode, uint32_t mode)
{
	struct {
		struct ev_file_path path;
		char name[8];
	} e = { .path = {
			.header = header_of(EV_FILE_PATH, 0),
			.file = file,
			.inode = inode,
			.mode = mode,
			.links = 1,
			.name_bytes = 1,
		} };
	const struct file_info *info;

	push(&e, sizeof(e.path) + 1);
	session_finish(session);
	info = files_find(files, file);
	return info ? info->path : NULL;
}

TEST(a_pipe_is_called_by_its_inode)
{
	begin();
	CHECK_STRING(path_of(name_of(1, KIND_PIPE), 17, 0010600), "pipe:[17]");
	end();
}

TEST(a_block_device_is_called_by_its_number)
{
	enum { KIND_BLOCK_DEVICE = 6 };

	begin();
	CHECK_STRING(path_of(name_of(1, KIND_BLOCK_DEVICE), 266338304 | 3, 0060600), "block device 254:3");
	end();
}

static void emit_socket(uint64_t number, uint16_t local_port, uint16_t peer_port)
{
	struct {
		struct ev_file_socket socket;
		char path[8];
	} e = { .socket = {
			.header = header_of(EV_FILE_SOCKET, 0),
			.file = name_of(number, KIND_SOCKET),
			.inode = number,
			.family = AF_INET,
			.type = SOCK_STREAM,
			.local_port = local_port,
			.peer_port = peer_port,
			.local = { 127, 0, 0, 1 },
			.peer = { 127, 0, 0, 1 },
		} };

	push(&e, sizeof(e.socket) + 1);
}

static bool is_server(uint64_t number)
{
	const struct file_info *info = files_find(files, name_of(number, KIND_SOCKET));

	return info && info->is_server;
}

TEST(which_end_is_the_servers_is_known_by_the_ports)
{
	begin();
	emit_socket(1, 8080, 50001);
	emit_socket(2, 50001, 8080);
	emit_socket(3, 45000, 0);
	session_finish(session);
	CHECK(is_server(1));
	CHECK(!is_server(2));
	CHECK(is_server(3));
	end();
}

TEST(a_port_like_a_clients_is_a_servers_if_it_has_several_peers)
{
	begin();
	emit_socket(1, 45000, 50001);
	emit_socket(2, 45000, 50002);
	emit_socket(3, 50001, 45000);
	emit_socket(4, 50002, 45000);
	emit_socket(5, 45000, 50003);
	session_finish(session);
	CHECK(is_server(1));
	CHECK(is_server(2));
	CHECK(!is_server(3));
	CHECK(!is_server(4));
	CHECK(is_server(5));
	end();
}

TEST(a_port_like_a_clients_with_one_peer_is_a_clients)
{
	begin();
	emit_socket(1, 45000, 50001);
	emit_socket(2, 45000, 50001);
	session_finish(session);
	CHECK(!is_server(1));
	CHECK(!is_server(2));
	end();
}

TEST(a_client_with_one_port_for_two_servers_is_no_server)
{
	begin();
	emit_socket(1, 45000, 80);
	emit_socket(2, 45000, 443);
	session_finish(session);
	CHECK(!is_server(1));
	CHECK(!is_server(2));
	end();
}
