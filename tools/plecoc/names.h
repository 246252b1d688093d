/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which words may be names in the generated header. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool name_is_identifier(const char *name, size_t size);
bool name_is_keyword(const char *name, size_t size);

/*
 * Whether a field of this name would not compile though it is no keyword of C11: fields reach the
 * header as they are written, while the other names do so only inside longer ones.
 */
bool name_is_reserved_for_field(const char *name, size_t size);
