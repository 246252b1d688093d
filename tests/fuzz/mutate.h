/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace, or a history of states, as somebody would change it who wants to harm its reader: events, bytes and
 * chunks are changed where they are plain, then packed and sealed again with checksums that are right.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct image;

/* Reads a trace as it is. NULL after a message. */
struct image *image_read(const char *path);
void image_free(struct image *image);

/* Writes a changed copy, the same for the same seed. 0, or a negative errno of writing. */
int image_write_mutated(const struct image *image, uint64_t seed, const char *path);
