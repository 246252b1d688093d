/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/header.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "area/local.h"

int area_read(int fd, void *to, size_t size_bytes, uint64_t offset)
{
	char *bytes = to;
	ssize_t count;

	while (size_bytes) {
		count = pread(fd, bytes, size_bytes, offset);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count ? -errno : -EBADMSG;
		bytes += count;
		offset += count;
		size_bytes -= count;
	}
	return 0;
}

/* Whether the kernel itself answers a read, and no other process or machine. */
static int check_file_system(int fd)
{
	struct statfs status;

	if (fstatfs(fd, &status))
		return -errno;
	return area_file_system_is_local((uint32_t)status.f_type) ? 0 : -EXDEV;
}

/* Whether [offset, offset + size_bytes) lies behind the header and within the area. */
static bool has_part(const struct pinchtrace_header *header, uint64_t offset, uint64_t size_bytes)
{
	return offset >= sizeof(*header) && offset % 8 == 0 && offset <= header->area_bytes &&
	       size_bytes <= header->area_bytes - offset;
}

static bool has_rings(const struct pinchtrace_header *header)
{
	uint64_t capacity = header->ring_capacity, slots_bytes = capacity * PINCHTRACE_SLOT_BYTES;

	return capacity >= PINCHTRACE_CAPACITY_MIN && capacity <= PINCHTRACE_CAPACITY_MAX &&
	       !(capacity & (capacity - 1)) && header->slots_offset >= sizeof(struct pinchtrace_ring) &&
	       header->slots_offset % 8 == 0 && header->ring_bytes % 8 == 0 &&
	       header->slots_offset <= header->ring_bytes && slots_bytes <= header->ring_bytes - header->slots_offset &&
	       header->ring_count_max <= PINCHTRACE_RINGS_MAX && header->ring_count <= header->ring_count_max &&
	       header->ring_bytes <= INT64_MAX / PINCHTRACE_RINGS_MAX &&
	       has_part(header, header->rings_offset, header->ring_count_max * header->ring_bytes);
}

static bool is_sound(const struct pinchtrace_header *header, uint64_t file_bytes)
{
	return header->magic == PINCHTRACE_MAGIC && header->version == PINCHTRACE_VERSION &&
	       header->header_bytes >= PINCHTRACE_HEADER_BYTES_MIN && header->area_bytes <= file_bytes &&
	       (header->clock == PINCHTRACE_CLOCK_MONOTONIC || header->clock == PINCHTRACE_CLOCK_TSC) &&
	       has_part(header, header->control_offset, sizeof(struct pinchtrace_control)) &&
	       has_part(header, header->switches_offset, PINCHTRACE_SUBSYSTEMS) &&
	       has_part(header, header->schema_offset, header->schema_bytes_max) &&
	       header->schema_bytes <= header->schema_bytes_max && has_rings(header);
}

int area_header_read(int fd, struct pinchtrace_header *header)
{
	struct stat status;
	int err;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	err = check_file_system(fd);
	if (!err)
		err = area_read(fd, header, sizeof(*header), 0);
	if (err)
		return err;
	return is_sound(header, status.st_size) ? 0 : -EBADMSG;
}

bool area_header_is_same(const struct pinchtrace_header *one, const struct pinchtrace_header *other)
{
	return memcmp(one, other, offsetof(struct pinchtrace_header, ring_count)) == 0;
}
