/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code without a name: evidence gives its place, "libx.so+0x1234"; sentences say whose it is. */
#pragma once

#include <stddef.h>

struct text;

/* The bytes of the module in a name like "libx.so+0x1234"; 0: it is a function's name. */
size_t report_nameless_length(const char *name);

/* "code of libx.so without symbols", "generated code without names"; module: escaped if need be, NULL: no file. */
void report_put_nameless(struct text *text, const char *module);
