/* SPDX-License-Identifier: BSD-2-Clause */
/* Which subsystems PINCHTRACE_ENABLE names. Those that switch at run time are in pinchtrace.h. */
#pragma once

/* "all", or the numbers in a list. */
void pinchtrace_switches_start(const char *list);

/* Enables the subsystems of the JSON that a list names. */
void pinchtrace_switches_enable_named(const char *json, const char *list);
