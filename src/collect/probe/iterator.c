/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/fail.h"

int iterator_run(const struct bpf_link *iterator, const char *what)
{
	char nothing[64];
	ssize_t n;
	int fd, err = 0;

	fd = bpf_iter_create(bpf_link__fd(iterator));
	if (fd < 0)
		return fail(-errno, "cannot list %s", what);
	do
		n = read(fd, nothing, sizeof(nothing));
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		err = fail(-errno, "cannot list %s", what);
	close(fd);
	return err;
}
