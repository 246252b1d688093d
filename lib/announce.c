/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers that have their sockets in the areas' directory get the descriptor. Tracers of the kernel see it by the name of a thread:
 * mappings of data have no event that costs nothing when nobody traces, a name has (task:task_rename). So the thread takes the
 * name that it has.
 */
#include "announce.h"

#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "environment.h"
#include "pinchtrace_format.h"

/* The address of the reader of that number; 0: none may be there. */
static int find_reader(int number, struct sockaddr_un *address)
{
	char name[] = "/" PINCHTRACE_READER_NAME "0";
	size_t length = strlen(pinchtrace_environment.directory);
	struct stat status;

	if (length + sizeof(name) > sizeof(address->sun_path))
		return 0;
	name[sizeof(name) - 2] += number;
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, pinchtrace_environment.directory, length);
	memcpy(address->sun_path + length, name, sizeof(name));
	/* Nobody else can put one in its place: the directory is sticky, or the user's. */
	return !lstat(address->sun_path, &status) && S_ISSOCK(status.st_mode) &&
	       (!status.st_uid || status.st_uid == geteuid());
}

static void give(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message;

	memset(&message, 0, sizeof(message));
	memset(&control, 0, sizeof(control));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void offer(int number, int fd)
{
	struct sockaddr_un address;
	int reader;

	if (!find_reader(number, &address))
		return;
	reader = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (reader < 0)
		return;
	/* It is connected before anybody accepts it, and what is sent waits there. */
	if (!connect(reader, (const struct sockaddr *)&address, sizeof(address)))
		give(reader, fd);
	close(reader);
}

void pinchtrace_announce(int fd)
{
	char name[16];

	for (int i = 0; i < PINCHTRACE_READERS; i++)
		offer(i, fd);
	if (!prctl(PR_GET_NAME, name, 0, 0, 0))
		prctl(PR_SET_NAME, name, 0, 0, 0);
}
