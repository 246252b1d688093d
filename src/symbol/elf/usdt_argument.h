/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the arguments of a USDT probe are, as the note of a site says it in the words of the assembler: "-4@%eax 8@16(%rsp) 4@$7".
 * Format: sdt.h of SystemTap, "UserSpaceProbeImplementation".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "usdt_format.h"

/*
 * Reads the text into arguments, which are USDT_UNREADABLE where it has another form: floating-point numbers, memory that
 * is named by a symbol or in a segment. Returns how many there are; those behind the last that fits are left out.
 */
size_t usdt_arguments_parse(const char *text, struct usdt_argument arguments[USDT_ARGUMENTS_MAX]);

/* Whether all numbers are in range: it may come from a process that has read hostile files. */
bool usdt_argument_is_valid(const struct usdt_argument *argument);

/* Whether the name of a provider or a probe is one that C has: of letters, digits and underscores, ending in size_bytes. */
bool usdt_name_is_valid(const char *name, size_t size_bytes);
