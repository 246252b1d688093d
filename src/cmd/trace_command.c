/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "cmd/trace_change.h"
#include "cmd/trace_snapshot.h"
#include "options/settings.h"
#include "outside/program_list.h"
#include "outside/programs.h"
#include "pinchtrace_format.h"
#include "view/output.h"

/* Where libpinchtrace puts areas, unless its own environment says otherwise. */
static const char *area_directory(void)
{
	const char *directory = getenv("PINCHTRACE_DIR");

	return directory && *directory ? directory : PINCHTRACE_DIRECTORY;
}

static bool changes(const struct settings *settings)
{
	return settings->outside.switch_count || trace_sets_triggers(settings) || settings->outside.clears_triggers;
}

static int write_list(const struct settings *settings, const struct outside_programs *programs)
{
	struct text out = { 0 };
	int err = 0;

	if (settings->json_path) {
		program_list_put_json(programs, &out);
		err = output_write(settings->json_path, &out);
	}
	if (!err && (settings->text_path || !settings->json_path)) {
		out.length = 0;
		program_list_put(programs, &out);
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	}
	text_fini(&out);
	return err;
}

static int remove_ended(const struct outside_programs *programs)
{
	int err = 0;
	size_t i;

	for (i = 0; i < programs->count; i++)
		if (!programs->list[i].pid && unlink(programs->list[i].path))
			err = fail(-errno, "cannot remove %s", programs->list[i].path);
	return err;
}

/* --- Which programs ---------------------------------------------------------------------- */

static int find_all(struct settings *settings, struct outside_programs *programs)
{
	int err = targets_all(&settings->targets);

	if (err)
		return err;
	outside_programs_find(programs, &settings->targets, changes(settings), true);
	return 0;
}

/* Those that are named; without any, all, and the files of ended ones. */
static int find_programs(struct settings *settings, char **files, struct outside_programs *programs)
{
	int err = 0;

	for (; *files && !err; files++)
		err = outside_programs_open(programs, *files);
	if (!err && settings->has_target && !settings->kernel.trace_all) {
		err = targets_check(settings);
		if (!err)
			err = outside_programs_find(programs, &settings->targets, changes(settings), false);
		/* Of several, some need not record events. */
		return programs->count ? 0 : err;
	}
	if (!err && settings->has_target)
		err = find_all(settings, programs);
	return err;
}

static int find_for_list(struct settings *settings, struct outside_programs *programs)
{
	int err = find_all(settings, programs);

	return err ? err : outside_programs_find_ended(programs, area_directory());
}

/* --- What is done ------------------------------------------------------------------------ */

static int act(struct settings *settings, char **files)
{
	const struct outside_settings *outside = &settings->outside;
	bool has_named = settings->has_target || *files;
	struct outside_programs programs = { 0 };
	int err;

	if (outside->removes)
		err = outside_programs_find_ended(&programs, area_directory());
	else if (has_named)
		err = find_programs(settings, files, &programs);
	else
		err = find_for_list(settings, &programs);
	if (!err && changes(settings) && !programs.count)
		err = fail_plain(-ENOENT, "no process records events of its own");
	if (!err && outside->removes)
		err = remove_ended(&programs);
	if (!err && changes(settings))
		err = trace_change(settings, &programs);
	if (!err && outside->takes_snapshot)
		err = trace_snapshot(settings, &programs);
	if (!err && (outside->lists || settings->json_path ||
		     !(changes(settings) || outside->takes_snapshot || outside->removes)))
		err = write_list(settings, &programs);
	outside_programs_fini(&programs);
	return err;
}

static int check(const struct settings *settings, char **files)
{
	const struct outside_settings *outside = &settings->outside;

	if (outside->clears_triggers && trace_sets_triggers(settings))
		return fail_plain(-EINVAL, "--clear-triggers excludes --start, --stop, --duration, --count and --mode");
	if (outside->has_mode && !outside->start && !outside->stop && !settings->duration_ns && !outside->count)
		return fail_plain(-EINVAL, "--mode needs --start, --stop, --duration or --count");
	if (outside->removes && (changes(settings) || outside->takes_snapshot || settings->has_target || *files))
		return fail_plain(-EINVAL, "--remove stands alone: it removes the files of all ended processes");
	if (changes(settings) && !settings->has_target)
		return fail_plain(-EINVAL, "name the processes with -p PID or -n NAME, or give --all");
	if (outside->takes_snapshot && !settings->has_target && !*files)
		return fail_plain(-EINVAL, "name the processes with -p PID or -n NAME, or a FILE, or give --all");
	if (changes(settings) && *files)
		return fail_plain(-EINVAL, "%s: only --snapshot and --list take a file", *files);
	return 0;
}

static int trace_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (settings_parse(&settings, &trace_command, argc, argv, &rest))
		goto out_fini;
	status = 0;
	if (settings.wants_help) {
		command_help(&trace_command);
	} else if (check(&settings, argv + rest)) {
		status = EXIT_USAGE;
	} else {
		signal(SIGPIPE, SIG_IGN);
		status = act(&settings, argv + rest) ? EXIT_FAILED : 0;
	}

out_fini:
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = { switch_options, program_options, common_options, NULL };

const struct command trace_command = {
	.name = "trace",
	.usage = "[options] [FILE...]",
	.summary = "List, switch and read programs that record events of their own",
	.description = "Acts on programs that are linked with libpinchtrace, while they run: without tracing\n"
		       "them, and without root on the user's own. FILE is the area that a killed one left.",
	.options = options,
	.run = trace_run,
};
