/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters as UTF-8. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { UTF8_BYTES_MAX = 4, UTF8_REPLACEMENT = 0xfffd };

/* Writes a character; what is none becomes U+FFFD. Returns how many bytes it takes, 1 to UTF8_BYTES_MAX. */
size_t utf8_put(uint32_t character, uint8_t *bytes);
