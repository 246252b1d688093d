/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that is made of others: how it is begun and ended.
 *
 * Owns: traces made of others.
 * Used by: scope, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct text;
struct trace_reader;
struct trace_writer;

/* The information that a trace has of itself; empty: none that can be read. */
void derived_info(struct trace_reader *reader, struct text *info);

/*
 * Begins it with the information of one of its sources, which are opened already: it must be none of them. 0,
 * or a negative errno after a message.
 */
int derived_open(const char *path, const struct text *info, struct trace_writer **out);

/*
 * Ends it and puts it in place of what the file held. 0, or a negative errno after having said that writing
 * failed, now or before: then the file holds what it did.
 */
int derived_close(struct trace_writer *writer, const char *path);

/*
 * The collect.END of a part: what was lost may have been lost there, what tracing cost nobody knows. whole:
 * as the source has it, NULL: it has none. is_ended: the part ends as the whole does. To be freed.
 */
struct ev_collect_end *derived_end(const struct ev_collect_end *whole, uint64_t ended_ns, bool is_ended);
