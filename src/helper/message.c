/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int message_send(int socket, const struct iovec *parts, size_t count, int fd, int wait)
{
	union control control = { .bytes = { 0 } };
	struct msghdr message = { .msg_iov = (struct iovec *)parts, .msg_iovlen = count };
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int take_fd(struct msghdr *message)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

ssize_t message_receive(int socket, struct iovec *parts, size_t count, int *fd, int wait)
{
	union control control = { .bytes = { 0 } };
	struct msghdr message = {
		.msg_iov = parts,
		.msg_iovlen = count,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*fd = take_fd(&message);
	if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
		return -EMSGSIZE;
	}
	return n;
}

int message_put(int socket, const void *bytes, size_t size_bytes, int fd)
{
	struct iovec part = { (void *)bytes, size_bytes };

	return message_send(socket, &part, 1, fd, 1);
}

ssize_t message_get(int socket, void *bytes, size_t capacity_bytes, int *fd)
{
	struct iovec part = { bytes, capacity_bytes };

	return message_receive(socket, &part, 1, fd, 1);
}
