/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build-id of an ELF file, read with a few small reads and nothing mapped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BUILD_ID_BYTES_MAX = 24 };

struct build_id {
	uint8_t bytes[BUILD_ID_BYTES_MAX];
	uint32_t size_bytes; /* 0: unknown */
};

/* Leaves size_bytes 0 when the file has none or is not what it should be. */
void build_id_read(int fd, struct build_id *build_id);

bool build_id_is_same(const struct build_id *a, const struct build_id *b);
