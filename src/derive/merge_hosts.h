/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose traces are merged: those of one boot of one machine are of one host, whose times need no change. The first trace's
 * host is host 0. The clocks of the others are known from clock.SAMPLE events, and from what a host has read that may have no
 * trace; also by way of other hosts.
 */
#pragma once

#include <stddef.h>

#include "derive/merge_host.h"
#include "derive/merge_order.h"
#include "derive/merge_source.h"

struct clock_readings;
struct merge_hosts;
struct merge_peers;
struct trace_writer;

/*
 * Says whose the sources are, from their information, and how their clocks are to be read. clocks: NULL is fine. 0, or a negative errno after
 * a message: a trace has no boot ID or several hosts already, or nothing says how far two clocks are apart.
 */
int merge_hosts_new(struct merge_source *sources, size_t count, const struct clock_readings *clocks,
		    struct merge_hosts **out);

/* One more source, of the only host there is. 0, or a negative errno after a message. */
int merge_hosts_join(struct merge_hosts *hosts, struct merge_source *source);
void merge_hosts_free(struct merge_hosts *hosts);

size_t merge_hosts_count(const struct merge_hosts *hosts);

/* Their names, as in "web1 and db1"; and how many CPUs they have in all. */
const char *merge_hosts_names(const struct merge_hosts *hosts);
uint32_t merge_hosts_cpu_count(const struct merge_hosts *hosts);

/* What messages have said of their clocks. */
struct merge_order merge_hosts_order(const struct merge_hosts *hosts);

/* What connections between them there are; borrowed. */
struct merge_peers *merge_hosts_peers(struct merge_hosts *hosts);

/* Writes a clock.HOST of each, unless there is only one. */
void merge_hosts_put(const struct merge_hosts *hosts, uint64_t time_ns, struct trace_writer *writer);
