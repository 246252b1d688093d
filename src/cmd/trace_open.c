/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/trace_open.h"

#include <errno.h>

#include "base/fail.h"
#include "trace/trace_reader.h"

int trace_open(const char *path, struct trace_reader **out)
{
	int err = trace_reader_open(path, out);

	switch (err) {
	case 0:
		return 0;
	case -EBADMSG:
		return fail_plain(err, "%s is no trace of pinch", path);
	case -ENOTSUP:
		return fail_plain(err, "%s was written by a later version of pinch", path);
	case -EINVAL:
		return fail_plain(err, "%s is no regular file", path);
	}
	return fail(err, "cannot read %s", path);
}
