/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of an area's file: read, and checked against the file and the limits of the format. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pinchtrace_format.h"

/* Reads all of so many bytes. -EBADMSG: the file ends before them; or another negative errno. */
int area_read(int fd, void *to, size_t size_bytes, uint64_t offset);

/*
 * Reads a header, of which the offsets and counts can be relied on as long as the file has its size. -EBADMSG: there is
 * none; -EXDEV, -EINVAL: as area_open(); or another negative errno.
 */
int area_header_read(int fd, struct pinchtrace_header *header);

/* Whether the part of a header that never changes is the same. */
bool area_header_is_same(const struct pinchtrace_header *one, const struct pinchtrace_header *other);
