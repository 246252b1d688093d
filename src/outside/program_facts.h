/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs with events of their own record, and what starts and stops that. */
#pragma once

struct arena;
struct outside_programs;
struct result_own_programs;

/* Of an area that cannot be read any more, nothing. All of it is in the arena, or the programs'. */
struct result_own_programs program_facts(const struct outside_programs *programs, struct arena *arena);
