/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/proto.h"

#include <string.h>

#include "base/text.h"

enum wire_type { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES };

static void put_tag(struct text *out, uint32_t field, enum wire_type type)
{
	text_put_varint(out, (uint64_t)field << 3 | type);
}

void proto_put_uint(struct text *out, uint32_t field, uint64_t value)
{
	put_tag(out, field, WIRE_VARINT);
	text_put_varint(out, value);
}

void proto_put_fixed64(struct text *out, uint32_t field, uint64_t value)
{
	char bytes[8];

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = value >> 8 * i;
	put_tag(out, field, WIRE_FIXED64);
	text_put_bytes(out, bytes, sizeof(bytes));
}

void proto_put_string(struct text *out, uint32_t field, const char *string)
{
	put_tag(out, field, WIRE_BYTES);
	text_put_varint(out, strlen(string));
	text_put(out, string);
}

void proto_put_message(struct text *out, uint32_t field, const struct text *message)
{
	put_tag(out, field, WIRE_BYTES);
	text_put_varint(out, message->length);
	if (message->length)
		text_put_bytes(out, message->bytes, message->length);
}
