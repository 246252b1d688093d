/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as people wrote them. */
#pragma once

#include <stddef.h>

/*
 * Writes what a linker's name means in C++ or Rust, without the tags of its ABI, and other names as they are, but
 * what a compiler appended ("foo.cold") always in the form "foo [clone .cold]". Too long a name ends in "...".
 */
void demangle(const char *symbol, char *name, size_t size_bytes);
