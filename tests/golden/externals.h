/* SPDX-License-Identifier: GPL-2.0-or-later */
/* External threads, put into scenarios that know of none: nothing must change. */
#pragma once

#include <stdint.h>

struct session;
union any_event;

/* Who is 0 has a number, and so do its records. */
void name_externals(union any_event *e);

/* An event at that time that is about such threads only. */
void push_external(struct session *session, unsigned int stream, uint64_t time_ns);
