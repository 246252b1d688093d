/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a function is called as a user writes it. */
#pragma once

#include <stdbool.h>

/*
 * What a user writes is the name without its parameters, and without what a template returns: "ns::f" is
 * "ns::f(int)" and "void ns::f<char>(char)". No part of a function is called so that
 * a compiler has put elsewhere.
 */
bool function_is_called(const char *demangled, const char *name);

/* The end of a name that is in its symbol too, however that is mangled: "f" of "ns::f"; may be "". */
const char *function_last_word(const char *name);
