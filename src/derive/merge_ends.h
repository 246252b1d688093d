/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first and the last event of a trace that is made of several. */
#pragma once

#include <stddef.h>

#include "derive/merge_hosts.h"
#include "derive/merge_source.h"
#include "events.h"

/* What all of them trace, as of the first; NULL: none of them says. To be freed. */
struct ev_collect_run *merged_run(const struct merge_source *sources, size_t count, const struct merge_hosts *hosts);

/*
 * How all of them ended: NULL: one of them has no end. joined: how many waits ended by a thread of another host. To be
 * freed.
 */
struct ev_collect_end *merged_end(const struct merge_source *sources, size_t count, const struct merge_hosts *hosts,
				  uint64_t joined);
