/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parquet/thrift.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

enum { SHORT_LIST_MAX = 14, DELTA_MAX = 15 };

static void put_byte(struct thrift *thrift, unsigned int byte)
{
	char bytes[1] = { byte };

	text_put_bytes(thrift->out, bytes, 1);
}

static void put_zigzag(struct thrift *thrift, int64_t value)
{
	text_put_varint(thrift->out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void begin_field(struct thrift *thrift, unsigned int id, enum thrift_type type)
{
	unsigned int delta = id - thrift->last[thrift->depth - 1];

	assert(delta && delta <= DELTA_MAX);
	put_byte(thrift, delta << 4 | type);
	thrift->last[thrift->depth - 1] = id;
}

void thrift_begin(struct thrift *thrift, struct text *out)
{
	*thrift = (struct thrift){ .out = out };
	thrift_begin_element(thrift);
}

void thrift_begin_element(struct thrift *thrift)
{
	assert(thrift->depth < THRIFT_DEPTH_MAX);
	thrift->last[thrift->depth++] = 0;
}

void thrift_begin_struct(struct thrift *thrift, unsigned int id)
{
	begin_field(thrift, id, THRIFT_STRUCT);
	thrift_begin_element(thrift);
}

void thrift_end(struct thrift *thrift)
{
	put_byte(thrift, 0);
	thrift->depth--;
}

void thrift_put_bool(struct thrift *thrift, unsigned int id, bool value)
{
	begin_field(thrift, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_i32(struct thrift *thrift, unsigned int id, int32_t value)
{
	begin_field(thrift, id, THRIFT_I32);
	put_zigzag(thrift, value);
}

void thrift_put_i64(struct thrift *thrift, unsigned int id, int64_t value)
{
	begin_field(thrift, id, THRIFT_I64);
	put_zigzag(thrift, value);
}

void thrift_put_bytes(struct thrift *thrift, unsigned int id, const void *bytes, size_t count)
{
	begin_field(thrift, id, THRIFT_BYTES);
	text_put_varint(thrift->out, count);
	text_put_bytes(thrift->out, bytes, count);
}

void thrift_put_string(struct thrift *thrift, unsigned int id, const char *string)
{
	thrift_put_bytes(thrift, id, string, strlen(string));
}

void thrift_begin_list(struct thrift *thrift, unsigned int id, enum thrift_type type, uint32_t count)
{
	begin_field(thrift, id, THRIFT_LIST);
	if (count <= SHORT_LIST_MAX) {
		put_byte(thrift, count << 4 | type);
		return;
	}
	put_byte(thrift, 0xf0 | type);
	text_put_varint(thrift->out, count);
}

void thrift_put_i32_element(struct thrift *thrift, int32_t value)
{
	put_zigzag(thrift, value);
}

void thrift_put_string_element(struct thrift *thrift, const char *string)
{
	text_put_varint(thrift->out, strlen(string));
	text_put(thrift->out, string);
}
