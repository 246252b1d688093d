/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "clocks/clock_fit.h"
#include "derive/derived_trace.h"
#include "derive/merge_peers.h"
#include "engine/carried_names.h"
#include "engine/trace_info.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "values.h"

enum {
	CPUS_UNKNOWN = 1024, /* so many, of a host whose trace does not say */
	UNCERTAINTY_MOMENTS = 64,
	CLOCKS_MAX = HOSTS_MAX + 1,
};

/* What one host has read of another one's clock. */
struct readings {
	struct clock_sample *samples;
	size_t count, capacity;
};

struct merge_hosts {
	struct merge_host list[CLOCKS_MAX];
	size_t count;       /* of those that have traces */
	size_t clock_count; /* and of those that have asked others besides: they stand behind */
	struct readings readings[CLOCKS_MAX][CLOCKS_MAX]; /* by who asked, and by who was asked */
	struct merge_peers *peers;
	struct merge_order order;
	struct text names;
};

/* --- Whose a trace is -------------------------------------------------------------------------------- */

static struct merge_host *find(struct merge_hosts *hosts, const uint8_t *boot)
{
	for (size_t i = 0; i < hosts->clock_count; i++)
		if (!memcmp(hosts->list[i].boot, boot, CLOCK_BOOT_BYTES))
			return &hosts->list[i];
	return NULL;
}

static char *name_of(const struct text *info)
{
	struct text name = { 0 };
	char *copy;

	trace_info_find(info->bytes, info->length, "host", &name);
	copy = xstrdup(name.length ? name.bytes : "unknown");
	text_fini(&name);
	return copy;
}

static struct merge_host *add(struct merge_hosts *hosts, const uint8_t *boot)
{
	struct merge_host *host = &hosts->list[hosts->clock_count];

	host->number = hosts->clock_count++;
	memcpy(host->boot, boot, CLOCK_BOOT_BYTES);
	return host;
}

static struct merge_host *add_traced(struct merge_hosts *hosts, const uint8_t *boot, const struct text *info)
{
	struct merge_host *host = add(hosts, boot);

	hosts->count = hosts->clock_count;
	host->name = name_of(info);
	host->objects = table_new();
	return host;
}

static int find_host(struct merge_hosts *hosts, struct merge_source *source)
{
	struct text info = { 0 }, text = { 0 };
	uint8_t boot[CLOCK_BOOT_BYTES];
	bool has_boot;

	derived_info(source->reader, &info);
	has_boot = info.length && trace_info_find(info.bytes, info.length, "boot_id", &text) && text.length &&
		   clock_boot_parse(text.bytes, boot);
	if (has_boot) {
		source->host = find(hosts, boot);
		if (!source->host)
			source->host = add_traced(hosts, boot, &info);
	}
	text_fini(&info);
	text_fini(&text);
	return has_boot ? 0 : fail_plain(-EINVAL, "%s has no boot ID", source->name);
}

/* All CPUs of a host, by whoever saw most of them. */
static void count_cpus(struct merge_hosts *hosts, const struct merge_source *sources, size_t count)
{
	uint32_t base = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t cpus = sources[i].run ? sources[i].run->cpu_count : CPUS_UNKNOWN;

		if (cpus > sources[i].host->cpu_count)
			sources[i].host->cpu_count = cpus;
	}
	for (size_t i = 0; i < hosts->count; i++) {
		hosts->list[i].is_alone = hosts->count == 1;
		hosts->list[i].cpu_base = base;
		base += hosts->list[i].cpu_count;
	}
}

/* --- Their clocks ------------------------------------------------------------------------------------ */

static void take_sample(struct merge_hosts *hosts, const struct merge_host *host, const uint8_t *peer_boot,
			const struct clock_sample *sample)
{
	const struct merge_host *peer = find(hosts, peer_boot);
	struct readings *readings;

	if (!peer || peer == host)
		return;
	readings = &hosts->readings[host->number][peer->number];
	if (readings->count == CLOCK_SAMPLES_MAX)
		return;
	ARRAY_GROW(readings->samples, readings->count, readings->capacity, 64);
	readings->samples[readings->count++] = *sample;
}

static void take_event(struct merge_hosts *hosts, const struct merge_source *source, const struct ev_clock_sample *e)
{
	const struct clock_sample sample = { e->asked_ns, e->received_ns, e->answered_ns, e->returned_ns };

	take_sample(hosts, source->host, e->boot, &sample);
}

static void take_readings(struct merge_hosts *hosts, const struct clock_readings *clocks)
{
	const struct merge_host *host = find(hosts, clocks->boot);

	if (!host)
		host = add(hosts, clocks->boot);
	for (size_t i = 0; i < clocks->count; i++)
		take_sample(hosts, host, clocks->list[i].boot, &clocks->list[i].sample);
}

/* Of one that is made of several hosts' traces, times were changed already. */
static int read_ahead(struct merge_hosts *hosts, struct merge_source *source)
{
	const struct ev_header *header;
	int got, err = 0;

	while (!err && ((got = trace_reader_next(source->reader, &header)) == 1 || got == -EBADMSG)) {
		if (got == 1)
			merge_peers_learn(hosts->peers, source, header);
		if (got != 1 || header->subsys != TRACE_SUBSYS_CLOCK)
			continue;
		if (header->event == TRACE_EVENT_CLOCK_SAMPLE)
			take_event(hosts, source, (const void *)header);
		else
			err = fail_plain(-EINVAL,
					 "%s is of several hosts already: merge all traces that it was made of at once",
					 source->name);
	}
	trace_reader_seek(source->reader, 0);
	return err;
}

static int by_t0(const void *a, const void *b)
{
	const struct clock_sample *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

static struct clock_fit *fit_of(struct readings *readings)
{
	if (readings->count)
		qsort(readings->samples, readings->count, sizeof(*readings->samples), by_t0);
	return clock_fit_new(readings->samples, readings->count);
}

/* How the clock of a host is read by that of another one; of two ways the one with the smaller round trip. */
static bool connect(struct merge_hosts *hosts, struct merge_host *host, struct merge_host *reference)
{
	struct clock_fit *own = fit_of(&hosts->readings[host->number][reference->number]);
	struct clock_fit *theirs = fit_of(&hosts->readings[reference->number][host->number]);
	bool is_asked = !own || (theirs && clock_fit_round_trip_ns(theirs) < clock_fit_round_trip_ns(own));

	host->fit = is_asked ? theirs : own;
	host->is_asked = is_asked;
	clock_fit_free(is_asked ? own : theirs);
	if (host->fit)
		host->reference = reference;
	return host->fit;
}

/* From host 0 on, so that each is as few steps from it as can be. */
static void connect_all(struct merge_hosts *hosts)
{
	struct merge_host *queue[CLOCKS_MAX] = { &hosts->list[0] };
	size_t count = 1;

	for (size_t at = 0; at < count; at++)
		for (size_t i = 1; i < hosts->clock_count; i++)
			if (!hosts->list[i].reference && connect(hosts, &hosts->list[i], queue[at]))
				queue[count++] = &hosts->list[i];
}

static int check_clocks(const struct merge_source *sources, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sources[i].host->number && !sources[i].host->reference)
			return fail_plain(
				-EINVAL,
				"%s and %s are of different boots or machines, and nothing says how far their clocks "
				"are apart: record one of them with --clock HOST, or both scopes at once where UDP "
				"reaches their ports; see pinch-clocks(1)",
				sources[0].name, sources[i].name);
	return 0;
}

/* The greatest of some moments of the trace, the first and the last one among them. */
static void state_uncertainty(struct merge_source *source)
{
	const struct trace_extent *extent = trace_reader_extent(source->reader);
	struct merge_host *host = source->host;

	for (int i = 0; i <= UNCERTAINTY_MOMENTS; i++) {
		uint64_t length_ns = extent->last_ns - extent->first_ns, uncertainty_ns = 0;

		merge_host_time_ns(host, extent->first_ns + length_ns / UNCERTAINTY_MOMENTS * i, &uncertainty_ns);
		if (uncertainty_ns > host->uncertainty_ns)
			host->uncertainty_ns = uncertainty_ns;
	}
}

static int read_clocks(struct merge_hosts *hosts, struct merge_source *sources, size_t count,
		       const struct clock_readings *clocks)
{
	int err = 0;

	if (clocks)
		take_readings(hosts, clocks);
	for (size_t i = 0; !err && i < count; i++)
		err = read_ahead(hosts, &sources[i]);
	if (err)
		return err;
	connect_all(hosts);
	err = check_clocks(sources, count);
	if (!err)
		hosts->order = merge_order_correct(hosts->peers);
	for (size_t i = 0; !err && i < count; i++) {
		state_uncertainty(&sources[i]);
		carried_names_shift_kernel(sources[i].names, merge_host_kernel_shift(sources[i].host));
		if (sources[i].run)
			merge_host_change(sources[i].host, &sources[i].run->header);
	}
	return err;
}

/* --- All of it ---------------------------------------------------------------------------------------- */

static void put_names(struct merge_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		text_printf(&hosts->names, "%s%s", i ? " and " : "", hosts->list[i].name);
}

int merge_hosts_new(struct merge_source *sources, size_t count, const struct clock_readings *clocks,
		    struct merge_hosts **out)
{
	struct merge_hosts *hosts = xcalloc(1, sizeof(*hosts));
	int err = 0;

	hosts->peers = merge_peers_new();

	for (size_t i = 0; !err && i < count; i++)
		err = find_host(hosts, &sources[i]);
	if (!err)
		count_cpus(hosts, sources, count);
	if (!err && hosts->count > 1)
		err = read_clocks(hosts, sources, count, clocks);
	if (err) {
		merge_hosts_free(hosts);
		return err;
	}
	put_names(hosts);
	*out = hosts;
	return 0;
}

int merge_hosts_join(struct merge_hosts *hosts, struct merge_source *source)
{
	int err = hosts->clock_count < CLOCKS_MAX ? find_host(hosts, source) : -ENOSPC;

	if (!err && source->host != &hosts->list[0])
		err = fail_plain(-EINVAL, "%s is of another boot or machine", source->name);
	return err;
}

void merge_hosts_free(struct merge_hosts *hosts)
{
	if (!hosts)
		return;
	for (size_t i = 0; i < hosts->clock_count; i++) {
		free(hosts->list[i].name);
		clock_fit_free(hosts->list[i].fit);
		table_free(hosts->list[i].objects);
		for (size_t j = 0; j < hosts->clock_count; j++)
			free(hosts->readings[i][j].samples);
	}
	merge_peers_free(hosts->peers);
	text_fini(&hosts->names);
	free(hosts);
}

size_t merge_hosts_count(const struct merge_hosts *hosts)
{
	return hosts->count;
}

const char *merge_hosts_names(const struct merge_hosts *hosts)
{
	return hosts->names.bytes;
}

uint32_t merge_hosts_cpu_count(const struct merge_hosts *hosts)
{
	const struct merge_host *last = &hosts->list[hosts->count - 1];

	uint32_t count = last->cpu_base + last->cpu_count;

	return count < CPUS_MAX ? count : CPUS_MAX - 1;
}

struct merge_order merge_hosts_order(const struct merge_hosts *hosts)
{
	return hosts->order;
}

struct merge_peers *merge_hosts_peers(struct merge_hosts *hosts)
{
	return hosts->peers;
}

static void put_host(const struct merge_host *host, uint64_t time_ns, struct trace_writer *writer)
{
	size_t text_bytes = strlen(host->name) + 1;
	struct ev_clock_host *e = xcalloc(1, sizeof(*e) + text_bytes);

	*e = (struct ev_clock_host){
		.header = { .time_ns = time_ns, .subsys = TRACE_SUBSYS_CLOCK, .event = TRACE_EVENT_CLOCK_HOST },
		.host = host->number,
		.cpu_base = host->cpu_base,
		.cpu_count = host->cpu_count,
		.text_bytes = text_bytes,
		.uncertainty_ns = host->uncertainty_ns,
	};
	memcpy(e->boot, host->boot, sizeof(e->boot));
	memcpy(e->name, host->name, text_bytes);
	trace_writer_event(writer, &e->header);
	free(e);
}

void merge_hosts_put(const struct merge_hosts *hosts, uint64_t time_ns, struct trace_writer *writer)
{
	for (size_t i = 0; hosts->count > 1 && i < hosts->count; i++)
		put_host(&hosts->list[i], time_ns, writer);
}
