/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/settings.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "collect/sampler.h"
#include "collect/tick.h"
#include "view/view.h"

enum {
	OPTIONS_MAX = 40,
	TOP_MAX = 1000,
	NMIN_MAX = 65535,
	DEPTH_MAX = 127,
	SAMPLE_HZ_MAX = 10000,
};

static const uint64_t SAMPLE_PERIOD_NS = 3 * 1000 * 1000;
static const uint64_t SAMPLE_PERIOD_MIN_NS = 100 * 1000;

void settings_init(struct settings *settings)
{
	*settings = (struct settings){
		.kernel = { .depth = DEPTH_MAX, .sample_period_ns = sampler_cheap_period(SAMPLE_PERIOD_NS) },
		.path_count_max = 10,
		.graph.share_min = 0.005,
		.whatif.scale = 0.5,
		.range = { .to_ns = UINT64_MAX },
	};
}

void settings_fini(struct settings *settings)
{
	targets_close(settings);
	pid_list_fini(&settings->targets);
	pid_list_fini(&settings->gone);
	span_specs_fini(&settings->spans);
	usdt_specs_fini(&settings->usdt);
	free(settings->own_span);
}

int number_parse(const char *option, const char *argument, unsigned long min, unsigned long max, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(argument, &end, 10);
	if (*argument < '0' || *argument > '9' || *end || errno || value < min || value > max)
		return fail_plain(-EINVAL, "--%s takes a number from %lu to %lu, not '%s'", option, min, max, argument);
	*number = value;
	return 0;
}

static int set_nmin(struct settings *settings, const char *argument)
{
	return number_parse("nmin", argument, 1, NMIN_MAX, &settings->kernel.nmin);
}

static int set_sample_period(struct settings *settings, const char *argument)
{
	uint64_t period_ns;

	if (duration_parse(argument, &period_ns) || period_ns < SAMPLE_PERIOD_MIN_NS)
		return fail_plain(-EINVAL,
				  "--sample-period takes a duration of at least 100us, "
				  "such as 3ms, not '%s'",
				  argument);
	settings->kernel.sample_period_ns = tick_pass_over(period_ns, tick_period_ns());
	return 0;
}

static int set_sample_hz(struct settings *settings, const char *argument)
{
	uint32_t hz;
	int err = number_parse("sample-hz", argument, 1, SAMPLE_HZ_MAX, &hz);

	if (!err)
		settings->kernel.sample_period_ns = tick_pass_over(1000000000ull / hz, tick_period_ns());
	return err;
}

static int set_depth(struct settings *settings, const char *argument)
{
	return number_parse("depth", argument, 1, DEPTH_MAX, &settings->kernel.depth);
}

static int set_top(struct settings *settings, const char *argument)
{
	settings->has_path_count = true;
	return number_parse("top", argument, 1, TOP_MAX, &settings->path_count_max);
}

int settings_set_duration(struct settings *settings, const char *argument)
{
	if (duration_parse(argument, &settings->duration_ns))
		return fail_plain(-EINVAL,
				  "--duration takes a duration with its unit, such as "
				  "30s or 5min, not '%s'",
				  argument);
	return 0;
}

static int set_page(struct settings *settings, const char *argument)
{
	struct text names = { 0 };
	int err = text_pages_parse(argument, &settings->pages);

	if (err) {
		text_pages_list(&names);
		fail_plain(err, "--page takes %s, separated by commas, not '%s'", names.bytes, argument);
		text_fini(&names);
	}
	return err;
}

int settings_set_json(struct settings *settings, const char *argument)
{
	settings->json_path = argument;
	return 0;
}

int settings_set_output(struct settings *settings, const char *argument)
{
	settings->text_path = argument;
	return 0;
}

static int set_trace(struct settings *settings, const char *argument)
{
	settings->trace_path = argument;
	return 0;
}

static int set_user(struct settings *settings, const char *argument)
{
	settings->user = argument;
	return 0;
}

static int set_threads_only(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.threads_only = true;
	return 0;
}

static int set_processes_only(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.processes_only = true;
	return 0;
}

static int set_kernel_stacks(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.kernel_stacks = true;
	return 0;
}

static int set_spin_inactive(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->is_spin_inactive = true;
	return 0;
}

static int set_critical_slices(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->has_critical_slices = true;
	settings->kernel.slice_stacks = true;
	return 0;
}

static int set_acquisitions(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->counts_acquisitions = true;
	return 0;
}

static int set_java_map(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->asks_java = true;
	return 0;
}

static int set_dns(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.follows_hosts = true;
	return 0;
}

static int set_system(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.tells_system = true;
	return 0;
}

static int set_span(struct settings *settings, const char *argument)
{
	struct text why = { 0 };
	int err = span_specs_add(&settings->spans, argument, &why);

	if (err)
		fail_plain(err, "--span %s: %s", argument, why.bytes);
	text_fini(&why);
	return err;
}

static int set_trigger(struct settings *settings, const char *argument)
{
	return own_trigger_parse(argument, &settings->own_trigger);
}

static int set_usdt(struct settings *settings, const char *argument)
{
	struct text why = { 0 };
	int err = usdt_specs_add(&settings->usdt, argument, &why);

	if (err)
		fail_plain(err, "--usdt %s: %s", argument, why.bytes);
	text_fini(&why);
	return err;
}

static int set_ring_size(struct settings *settings, const char *argument)
{
	uint32_t kilobytes;
	int err = number_parse("ring-kb", argument, 4, 1 << 20, &kilobytes);

	if (!err && (kilobytes & (kilobytes - 1)))
		err = fail_plain(-EINVAL, "--ring-kb takes a power of two, not '%s'", argument);
	if (!err)
		settings->kernel.ring_bytes = (size_t)kilobytes << 10;
	return err;
}

static int set_quiet(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->is_quiet = true;
	return 0;
}

static int set_verbose(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->is_verbose = true;
	return 0;
}

static int set_tui(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->has_tui = true;
	return 0;
}

static int set_help(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->wants_help = true;
	return 0;
}

const struct option_spec trace_options[] = {
	{ "nmin", 0, "N", "time is critical while at most N threads are active (default: half of the living threads)",
	  set_nmin },
	{ "sample-period", 0, "TIME",
	  "sample running threads this often (default: 3ms, or the nearest kernel timer tick)", set_sample_period },
	{ "sample-hz", 0, "HZ", "the same, as a frequency", set_sample_hz },
	{ "depth", 0, "N", "frames per call path, at most 127 (default)", set_depth },
	{ "duration", 0, "TIME", "stop tracing after TIME, such as 30s", settings_set_duration },
	{ "threads-only", 0, NULL, "do not follow into new processes", set_threads_only },
	{ "processes-only", 0, NULL, "count only the first thread of each process", set_processes_only },
	{ "kernel-stacks", 0, NULL, "take call paths through the kernel too", set_kernel_stacks },
	{ "spin-inactive", 0, NULL, "do not count threads as active while they wait in spin loops", set_spin_inactive },
	{ "java-map", 0, NULL, "ask Java 17 or newer for the names of compiled methods, as jcmd does", set_java_map },
	{ "dns", 0, NULL, "show host names instead of addresses, as the program resolved them", set_dns },
	{ "system", 0, NULL, "also record the rest of the machine: other threads, interrupts, packets and disks",
	  set_system },
	{ "span", 0, "SPEC",
	  "also record tasks, for pinch spans: [NAME=]CALL..CALL, [NAME=]FILE:FUNCTION or\n"
	  "[NAME=]SUBSYSTEM:EVENT..EVENT[key=FIELD]; may be repeated",
	  set_span },
	{ "trigger", 0, "WAIT", "start the events of a program's own, which it holds back, at such a wait: lock:10ms",
	  set_trigger },
	{ "usdt", 0, "PROBES",
	  "also record USDT probes, as events of the program's own: [FILE:]PROVIDER:PROBE, with * and ?; may be repeated",
	  set_usdt },
	{ "ring-kb", 0, "KB", "size of each CPU's buffer for switches and wake-ups, a power of two (default: 4096)",
	  set_ring_size },
	{ 0 },
};

const struct option_spec start_options[] = {
	{ "user", 0, "NAME",
	  "run the command as user NAME, UID or UID:GID (default: the caller of sudo, else of "
	  "pinch)",
	  set_user },
	{ 0 },
};

const struct option_spec watch_options[] = {
	{ "trace", 0, "FILE", "also write a trace to FILE, for pinch report", set_trace },
	{ "tui", 0, NULL, "show the report on the terminal as it grows, page by page", set_tui },
	{ 0 },
};

const struct option_spec acquisition_options[] = {
	{ "acquisitions", 0, NULL,
	  "count all acquisitions of locks, contended or not, and measure hold times (needs kprobes; about 1 us each)",
	  set_acquisitions },
	{ 0 },
};

const struct option_spec tui_options[] = {
	{ "tui", 0, NULL, "show the report on the terminal, page by page, with the wait-dependency graph", set_tui },
	{ 0 },
};

const struct option_spec report_options[] = {
	{ "top", 0, "N", "call paths to report (default: 10)", set_top },
	{ "critical-slices", 0, NULL, "call paths are those at which critical slices ended, not where threads ran",
	  set_critical_slices },
	{ "json", 0, "FILE", "also write the report as JSON; - is standard output", settings_set_json },
	{ "output", 'o', "FILE", "write the text to FILE instead of the terminal", settings_set_output },
	{ "text", 0, "FILE", "the same, beside --json, --html and the like", settings_set_output },
	{ "page", 0, "NAME",
	  "show only these pages of the text, in full: summary, paths, synchronisation, io, locks, klocks, threads, "
	  "balance",
	  set_page },
	{ "verbose", 'v', NULL, "show all sections, and every path, thread and frame in full", set_verbose },
	{ 0 },
};

const struct option_spec quiet_options[] = {
	{ "quiet", 'q', NULL, "no progress line; no text unless -o is given", set_quiet },
	{ 0 },
};

const struct option_spec made_trace_options[] = {
	{ "output", 'o', "OUT", "the resulting trace", set_trace },
	{ 0 },
};

const struct option_spec common_options[] = {
	{ "help", 'h', NULL, "show this help", set_help },
	{ 0 },
};

/* The tables of a command as getopt wants them. */
struct getopt_tables {
	struct option longs[OPTIONS_MAX + 1];
	char shorts[3 * OPTIONS_MAX + 3];
	const struct option_spec *specs[OPTIONS_MAX];
	int count;
};

static void build_tables(const struct command *command, struct getopt_tables *tables)
{
	char *at = tables->shorts;

	if (command->has_command)
		*at++ = '+'; /* stop at the first argument */
	*at++ = ':';
	for (size_t i = 0; command->options[i]; i++) {
		for (const struct option_spec *spec = command->options[i]; spec->name; spec++) {
			int has_argument = spec->argument ? required_argument : no_argument;

			tables->specs[tables->count] = spec;
			tables->longs[tables->count++] = (struct option){ spec->name, has_argument, NULL, 0 };
			if (!spec->letter)
				continue;
			*at++ = spec->letter;
			if (spec->argument)
				*at++ = ':';
		}
	}
	*at = '\0';
}

static const struct option_spec *spec_of_letter(const struct getopt_tables *tables, int letter)
{
	for (int i = 0; i < tables->count; i++)
		if (tables->specs[i]->letter == letter)
			return tables->specs[i];
	return NULL;
}

int settings_parse(struct settings *settings, const struct command *command, int argc, char **argv, int *rest)
{
	struct getopt_tables tables = { 0 };
	int c, index = 0, err;

	build_tables(command, &tables);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, tables.shorts, tables.longs, &index)) != -1) {
		const struct option_spec *spec;

		if (c == ':')
			return fail_plain(-EINVAL, "%s takes an argument; see pinch help %s", argv[optind - 1],
					  command->name);
		if (c == '?')
			return fail_plain(-EINVAL, "pinch %s: unknown or ambiguous option '%s'; see pinch help %s",
					  command->name, argv[optind - 1], command->name);
		spec = c ? spec_of_letter(&tables, c) : tables.specs[index];
		assert(spec); /* getopt knows those of the tables */
		err = spec->set(settings, optarg);
		if (err)
			return err;
	}
	*rest = optind;
	if (settings->kernel.threads_only && settings->kernel.processes_only)
		return fail_plain(-EINVAL, "--threads-only and --processes-only exclude each other");
	if (settings->spans.count && !settings->trace_path && !settings->stream.listen)
		return fail_plain(-EINVAL, "--span needs a trace: give --trace FILE, or use pinch record");
	if (settings->usdt.count && !settings->trace_path)
		return fail_plain(-EINVAL, "--usdt needs a trace: give --trace FILE, or use pinch record");
	return targets_check(settings);
}
