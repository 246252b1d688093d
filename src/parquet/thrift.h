/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thrift's compact protocol, as far as Parquet has it (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md). Fields of a struct
 * come by ascending ids. The caller owns the struct.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

enum { THRIFT_DEPTH_MAX = 8 };

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BYTES = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

struct thrift {
	struct text *out;
	unsigned int depth;
	unsigned int last[THRIFT_DEPTH_MAX]; /* the id of the last field of each open struct */
};

/* The struct that all is in. thrift_end() ends it, too. */
void thrift_begin(struct thrift *thrift, struct text *out);

void thrift_put_bool(struct thrift *thrift, unsigned int id, bool value);
void thrift_put_i32(struct thrift *thrift, unsigned int id, int32_t value);
void thrift_put_i64(struct thrift *thrift, unsigned int id, int64_t value);
void thrift_put_bytes(struct thrift *thrift, unsigned int id, const void *bytes, size_t count);
void thrift_put_string(struct thrift *thrift, unsigned int id, const char *string);

void thrift_begin_struct(struct thrift *thrift, unsigned int id);
void thrift_end(struct thrift *thrift);

/* So many elements follow, of one type. */
void thrift_begin_list(struct thrift *thrift, unsigned int id, enum thrift_type type, uint32_t count);
void thrift_begin_element(struct thrift *thrift); /* a struct; thrift_end() ends it */
void thrift_put_i32_element(struct thrift *thrift, int32_t value);
void thrift_put_string_element(struct thrift *thrift, const char *string);
