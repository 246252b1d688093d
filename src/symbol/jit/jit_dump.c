/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit/jit_dump.h"

#include <unistd.h>

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	HEADER_BYTES_MAX = 4096,
	CODE_LOAD = 0,
};

/* In the byte order of the machine that runs the program. */
struct file_header {
	uint32_t magic, version, header_bytes, machine, reserved, pid;
	uint64_t timestamp, flags;
};

struct record_header {
	uint32_t kind, total_bytes;
	uint64_t timestamp;
};

struct code_load {
	struct record_header header;
	uint32_t pid, tid;
	uint64_t address, start, size_bytes, index;
	/* then the name and the code */
};

static bool read_header(int fd, struct file_header *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) && header->magic == MAGIC &&
	       header->header_bytes >= sizeof(*header) && header->header_bytes <= HEADER_BYTES_MAX;
}

bool jit_dump_is(int fd)
{
	struct file_header header;

	return read_header(fd, &header);
}

bool jit_dump_next(int fd, uint64_t *at, uint64_t *records_left, struct jit_dump_code *code)
{
	struct file_header header;
	struct code_load load;

	if (!*at) {
		if (!read_header(fd, &header))
			return false;
		*at = header.header_bytes;
	}
	while (*records_left) {
		off_t end = lseek(fd, 0, SEEK_END);
		uint64_t next;
		ssize_t n;

		n = pread(fd, &load, sizeof(load), *at);
		if (n < (ssize_t)sizeof(load.header) || load.header.total_bytes < sizeof(load.header))
			return false;
		next = *at + load.header.total_bytes;
		/* The compiler has not written all of it. */
		if (end < 0 || next > (uint64_t)end)
			return false;
		code->name_at = *at + sizeof(load);
		*at = next;
		--*records_left;
		if (load.header.kind != CODE_LOAD || n < (ssize_t)sizeof(load) ||
		    load.header.total_bytes <= sizeof(load))
			continue;
		code->start = load.start;
		code->size_bytes = load.size_bytes;
		return true;
	}
	return false;
}
