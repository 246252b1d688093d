/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * XXH3 (128 bits) of what is in a file: of all of it up to 4 MB; of larger ones of the first and the last MB, where
 * their headers are, and of 512 pages between, at equal distances. 0, or -errno.
 */
int file_hash(int fd, uint64_t size_bytes, uint64_t hash[2]);
