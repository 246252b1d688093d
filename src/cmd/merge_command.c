/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/fail.h"
#include "derive/merge_traces.h"
#include "options/settings.h"

static int merge_files(const struct settings *settings, int argc, char **argv, int rest)
{
	struct merge_input inputs[MERGE_SOURCES_MAX];
	size_t count = 0;
	bool is_written;

	if (rest >= argc || !settings->trace_path) {
		fail_plain(-EINVAL, "no traces, or no -o OUT, given: pinch merge -o OUT FILE...");
		return EXIT_USAGE;
	}
	if (argc - rest > MERGE_SOURCES_MAX) {
		fail_plain(-EINVAL, "at most %d traces can be merged at once", MERGE_SOURCES_MAX);
		return EXIT_USAGE;
	}
	for (; rest < argc; rest++)
		inputs[count++] = (struct merge_input){ argv[rest], argv[rest] };
	return merge_traces(inputs, count, NULL, settings->trace_path, &is_written) ? EXIT_FAILED : 0;
}

static int merge_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &merge_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&merge_command);
		else
			status = merge_files(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = {
	made_trace_options,
	common_options,
	NULL,
};

const struct command merge_command = {
	.name = "merge",
	.usage = "-o OUT FILE...",
	.summary = "Merge several traces, of one host or of several, into one",
	.description = "OUT is what one pinch would have recorded that traced all of them. The FILEs may overlap\n"
		       "in time or follow each other. Of several hosts, clocks are needed: pinch record --clock.",
	.options = options,
	.run = merge_run,
};
