/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user can do so that code which a program generated has names. */
#pragma once

/* The number of the runtime that a mapped file belongs to, by the file's name; 0: none of them. */
unsigned int jit_hint_find(const char *file_name);

/* The sentence; of number 0, what holds for any program. */
const char *jit_hint(unsigned int number);
