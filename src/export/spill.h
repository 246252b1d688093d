/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings of bytes that grow side by side and are read when all is known, for formats that have a column of each thread in one piece.
 * They lie in a file without a name; memory has 1 KB for each. One is written in any order with others, and read from its beginning.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

enum { SPILL_CHUNK_BYTES = 1024 };

struct spill;

struct spill *spill_new(void);
void spill_free(struct spill *spill);

/* A new, empty string of bytes; numbers count from 0. */
uint32_t spill_add(struct spill *spill);

/* Puts bytes behind those of string number. */
void spill_put(struct spill *spill, uint32_t number, const struct text *bytes);

/* 0, or a negative errno of the file: bytes are missing then. */
int spill_error(const struct spill *spill);

struct spill_reader {
	struct spill *spill;
	uint32_t number;
	uint64_t next; /* the chunk behind the one that is read; UINT64_MAX: there is none */
	size_t at, end;
	uint8_t bytes[SPILL_CHUNK_BYTES];
};

/* From the string's first byte on. Nothing is put as long as it is read. */
void spill_read(struct spill *spill, uint32_t number, struct spill_reader *reader);

/* False: there are no more bytes. */
bool spill_has_more(struct spill_reader *reader);

/* The next byte, or number as text_put_varint() wrote it; 0 beyond the end. */
uint8_t spill_next_byte(struct spill_reader *reader);
uint64_t spill_next_varint(struct spill_reader *reader);
