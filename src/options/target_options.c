/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/settings.h"

#include <errno.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

static int add_target(struct settings *settings, int err)
{
	settings->has_target = true;
	return err;
}

static int set_pid(struct settings *settings, const char *argument)
{
	return add_target(settings, targets_by_pid(argument, &settings->targets, &settings->gone));
}

static int set_name(struct settings *settings, const char *argument)
{
	struct kernel_options *kernel = &settings->kernel;

	if (kernel->awaited_count < AWAITED_MAX)
		kernel->awaited_names[kernel->awaited_count++] = argument;
	return add_target(settings, targets_by_name(argument, &settings->targets));
}

static int set_cgroup(struct settings *settings, const char *argument)
{
	int fd, err = targets_by_cgroup(argument, &settings->targets, &fd);

	if (!err && settings->cgroup_count < CGROUPS_MAX)
		settings->cgroup_fds[settings->cgroup_count++] = fd;
	else if (!err)
		close(fd);
	return add_target(settings, err);
}

void targets_close(struct settings *settings)
{
	for (size_t i = 0; i < settings->cgroup_count; i++)
		close(settings->cgroup_fds[i]);
	settings->cgroup_count = 0;
}

static int set_all(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.trace_all = true;
	return add_target(settings, targets_all(&settings->targets));
}

static int set_no_children(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->has_no_children = true;
	return 0;
}

static const char *numbers_of(const struct pid_list *list, struct text *out)
{
	for (size_t i = 0; i < list->count; i++)
		text_printf(out, "%s%u", i ? ", " : "", list->pids[i]);
	return out->bytes;
}

int targets_check(const struct settings *settings)
{
	const struct pid_list *gone = &settings->gone;
	struct text numbers = { 0 };
	int err = 0;

	if (gone->count && settings->targets.count)
		warn("no process %s: skipped", numbers_of(gone, &numbers));
	else if (gone->count)
		err = fail_plain(-ESRCH, "no process %s; `ps -e` lists all", numbers_of(gone, &numbers));
	text_fini(&numbers);
	return err;
}

const struct option_spec target_options[] = {
	{ "pid", 'p', "PID", "processes to trace, separated by commas; may be repeated", set_pid },
	{ "name", 'n', "NAME", "processes with this command name or program", set_name },
	{ "cgroup", 0, "DIR", "processes of a cgroup and the cgroups below it", set_cgroup },
	{ "all", 'a', NULL, "all programs on this machine", set_all },
	{ "no-children", 0, NULL, "leave out child processes that run already", set_no_children },
	{ 0 },
};
