/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sockets of addresses. */
#pragma once

#include <stddef.h>

struct addrinfo;

enum address_kind { ADDRESS_TCP, ADDRESS_TLS, ADDRESS_UNIX };

struct address {
	enum address_kind kind;
	char host[256]; /* a name or a number; of a Unix socket, its path */
	char port[6];
};

/* Of the path of a Unix socket, with its NUL. */
size_t address_path_max(void);

/* These say what went wrong, and address becomes where they listen. */
int address_listen_tcp(const struct addrinfo *info, struct address *address, int *fd);
int address_listen_unix(const struct address *address, int *fd);
int address_connect_unix(const struct address *address, int *fd);

/* This does not. */
int address_connect_tcp(const struct addrinfo *info, int wait_ms, int *fd);

/* A peer that is gone without a word is known to be after a while, of TCP. */
void address_bound_silence(int fd);

/* Removes a Unix socket that address_listen_unix() made. */
void address_unlisten(const struct address *address, int fd);
