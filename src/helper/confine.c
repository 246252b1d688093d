/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static bool is_kept(int capability, const int *kept, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (kept[i] == capability)
			return true;
	return false;
}

static bool has(int capability)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t capabilities = cap_get_proc();

	if (capabilities && cap_get_flag(capabilities, capability, CAP_EFFECTIVE, &value))
		value = CAP_CLEAR;
	cap_free(capabilities);
	return value == CAP_SET;
}

int confine_bounds(const int *kept, size_t count)
{
	if (!has(CAP_SETPCAP))
		return 0;
	for (int i = 0; i < cap_max_bits(); i++)
		if (!is_kept(i, kept, count) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			return -errno;
	return 0;
}

int confine_capabilities(const int *kept, size_t count)
{
	cap_t had = cap_get_proc(), wanted = cap_init();
	int err = had && wanted ? 0 : -ENOMEM;

	/* First what takes a capability itself. */
	if (!err)
		err = confine_bounds(kept, count);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (size_t i = 0; !err && i < count; i++) {
		cap_flag_value_t has = CAP_CLEAR;

		if (cap_get_flag(had, kept[i], CAP_PERMITTED, &has) || has == CAP_CLEAR)
			continue;
		if (cap_set_flag(wanted, CAP_PERMITTED, 1, &kept[i], CAP_SET) ||
		    cap_set_flag(wanted, CAP_EFFECTIVE, 1, &kept[i], CAP_SET))
			err = -errno;
	}
	if (!err && cap_set_proc(wanted))
		err = -errno;
	cap_free(wanted);
	cap_free(had);
	return err;
}

int confine_suspend(const int *suspended, size_t count)
{
	cap_t had = cap_get_proc();
	int err = had ? 0 : -ENOMEM;

	if (!err && (cap_set_flag(had, CAP_EFFECTIVE, count, suspended, CAP_CLEAR) || cap_set_proc(had)))
		err = -errno;
	cap_free(had);
	return err;
}

/* Else users may have no other number but one, and groups may not be left. */
static bool is_first_user_namespace(void)
{
	FILE *map = fopen("/proc/self/uid_map", "re");
	unsigned int inside = 0, outside = 0, count = ~0u;
	int n = map ? fscanf(map, "%u %u %u", &inside, &outside, &count) : 0;

	if (map)
		fclose(map);
	return !n || (n == 3 && !inside && !outside && count == ~0u);
}

bool confine_can_change_user(void)
{
	return has(CAP_SETUID) && has(CAP_SETGID) && is_first_user_namespace();
}

int confine_user(void)
{
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}

/* An empty file system, which nobody can write to, in the place of all that there was. */
static int empty_tree(void)
{
	static const char place[] = "/proc"; /* any directory that is always there */

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=555") || chdir(place) ||
	    syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/") ||
	    mount("none", "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -errno;
	return 0;
}

int confine_namespaces(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS))
		return -errno;
	return empty_tree();
}

/* Rights of Landlock that headers of old kernels do not know. */
enum { REFER = 1 << 13, TRUNCATE = 1 << 14 };

enum {
	READING = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	WRITING = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | TRUNCATE,
	OF_FILES = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE,
};

/* All that the kernel can forbid: its first version, and what came later. */
static uint64_t rights_known(void)
{
	int version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	uint64_t rights = (1ull << 13) - 1;

	if (version >= 2)
		rights |= REFER;
	return version >= 3 ? rights | TRUNCATE : rights;
}

static int allow_tree(int ruleset, const struct confined_tree *tree, uint64_t known)
{
	struct landlock_path_beneath_attr allowed = {
		.allowed_access = (READING | (tree->may_write ? WRITING : 0)) & known,
		.parent_fd = open(tree->path, O_PATH | O_CLOEXEC),
	};
	struct stat status;
	int err = 0;

	if (allowed.parent_fd < 0)
		return 0;
	if (!fstat(allowed.parent_fd, &status) && !S_ISDIR(status.st_mode))
		allowed.allowed_access &= OF_FILES;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &allowed, 0))
		err = -errno;
	close(allowed.parent_fd);
	return err;
}

int confine_paths(const struct confined_tree *trees, size_t count)
{
	struct landlock_ruleset_attr all = { .handled_access_fs = rights_known() };
	int fd = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0), err = 0;

	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EPERM ? -ENOSYS : -errno;
	for (size_t i = 0; !err && i < count; i++)
		err = allow_tree(fd, &trees[i], all.handled_access_fs);
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	close(fd);
	return err;
}

int confine_basics(void)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}

static int add_call(scmp_filter_ctx filter, uint32_t action, const struct confined_call *call)
{
	struct scmp_arg_cmp compared[CONFINED_ARGUMENTS];
	unsigned int count = 0;

	for (size_t i = 0; i < CONFINED_ARGUMENTS; i++) {
		const struct confined_argument *argument = &call->arguments[i];

		if (argument->mask)
			compared[count++] =
				SCMP_CMP(argument->index, SCMP_CMP_MASKED_EQ, argument->mask, argument->value);
	}
	return seccomp_rule_add_array(filter, action, call->number, count, compared);
}

/* These calls have the one action, all others the other one. libseccomp sets no_new_privs, too. */
static int filter_calls(uint32_t action, const struct confined_call *calls, size_t count, uint32_t other)
{
	scmp_filter_ctx filter = seccomp_init(other);
	int err = 0;

	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; !err && i < count; i++)
		err = add_call(filter, action, &calls[i]);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int confine_to_calls(const struct confined_call *allowed, size_t count)
{
	return filter_calls(SCMP_ACT_ALLOW, allowed, count, SCMP_ACT_ERRNO(EPERM));
}

int confine_without_calls(const struct confined_call *denied, size_t count)
{
	return filter_calls(SCMP_ACT_ERRNO(EPERM), denied, count, SCMP_ACT_ALLOW);
}
