/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of protocol buffers, in their wire format. A message within another one is made in a text of its own first. */
#pragma once

#include <stdint.h>

struct text;

void proto_put_uint(struct text *out, uint32_t field, uint64_t value);
void proto_put_fixed64(struct text *out, uint32_t field, uint64_t value);
void proto_put_string(struct text *out, uint32_t field, const char *string);

/* Bytes or a message, which may be empty. */
void proto_put_message(struct text *out, uint32_t field, const struct text *message);
