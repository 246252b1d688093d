/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/target/command_user.h"

#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/fail.h"
#include "base/memory.h"

enum { GROUPS_MAX = 65536 }; /* the kernel's own limit */

/* An id in decimal digits alone, up to the character that ends it. The last number of all means "none". */
static bool read_id(const char *word, char end, uint32_t *id, const char **rest)
{
	uint64_t value = 0;
	const char *at = word;

	for (; *at >= '0' && *at <= '9' && value < UINT32_MAX; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (at == word || *at != end || value >= UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	*rest = at;
	return true;
}

/* The entry of a name or, if that is NULL, of a user; NULL with 0 in errno when there is none. */
static const struct passwd *entry_of(const char *name, uid_t uid)
{
	const struct passwd *entry;

	errno = 0;
	entry = name ? getpwnam(name) : getpwuid(uid);
	/* What the database's parts say when they know nobody of that name. */
	if (!entry && (errno == ENOENT || errno == ESRCH || errno == EBADF || errno == EPERM))
		errno = 0;
	return entry;
}

static struct command_user *user_new(uid_t uid, gid_t gid, const char *name, const char *home, const char *shell)
{
	struct command_user *user = xcalloc(1, sizeof(*user));

	user->uid = uid;
	user->gid = gid;
	user->name = xstrdup(name);
	user->home = xstrdup(home);
	user->shell = xstrdup(shell && *shell ? shell : "/bin/sh");
	return user;
}

static int take_groups(struct command_user *user)
{
	int capacity = 32, count;

	for (;;) {
		user->groups = xrealloc(user->groups, (size_t)capacity, sizeof(*user->groups));
		count = capacity;
		if (getgrouplist(user->name, user->gid, user->groups, &count) >= 0)
			break;
		if (capacity >= GROUPS_MAX)
			return fail_plain(-E2BIG, "user %s is in too many groups", user->name);
		capacity = count > capacity && count <= GROUPS_MAX ? count : GROUPS_MAX;
	}
	user->group_count = (size_t)count;
	return 0;
}

static int user_of_entry(const struct passwd *entry, struct command_user **out)
{
	struct command_user *user =
		user_new(entry->pw_uid, entry->pw_gid, entry->pw_name, entry->pw_dir, entry->pw_shell);
	int err = take_groups(user);

	if (err)
		command_user_free(user);
	else
		*out = user;
	return err;
}

/* The id may have no entry; then its number is its name. */
static struct command_user *user_of_ids(const char *word, uid_t uid, gid_t gid)
{
	const struct passwd *entry = entry_of(NULL, uid);
	struct command_user *user;
	char *number;

	if (entry)
		return user_new(uid, gid, entry->pw_name, entry->pw_dir, entry->pw_shell);
	number = xstrdup(word);
	number[strcspn(number, ":")] = '\0';
	user = user_new(uid, gid, number, "/", NULL);
	free(number);
	return user;
}

int command_user_find(const char *word, struct command_user **out)
{
	const struct passwd *entry;
	const char *rest;
	uint32_t uid, gid;

	*out = NULL;
	if (geteuid())
		return fail_plain(-EPERM,
				  "--user %s: only root can run a command as another user; leave it out, "
				  "or run pinch as root",
				  word);
	if (read_id(word, ':', &uid, &rest)) {
		if (!read_id(rest + 1, '\0', &gid, &rest))
			return fail_plain(-EINVAL, "--user takes NAME, UID or UID:GID, not '%s'", word);
		*out = user_of_ids(word, uid, gid);
		return 0;
	}
	entry = entry_of(word, 0);
	if (!entry && !errno && read_id(word, '\0', &uid, &rest)) {
		if (!uid)
			return 0;
		entry = entry_of(NULL, uid);
		if (!entry && !errno)
			return fail_plain(-EINVAL, "--user %s: no user has this UID; give the group too, as UID:GID",
					  word);
	}
	if (!entry && errno)
		return fail(-errno, "--user %s: cannot read the user database", word);
	if (!entry)
		return fail_plain(-EINVAL, "--user %s: no such user; give NAME, UID or UID:GID", word);
	return entry->pw_uid ? user_of_entry(entry, out) : 0;
}

/* Says what is wrong with a variable of sudo's. */
static int refuse(const char *variable, const char *value, const char *problem)
{
	return fail_plain(-EINVAL,
			  "cannot tell who called sudo: %s is '%s', %s; give --user NAME, or --user root "
			  "to run the command as root",
			  variable, value, problem);
}

int command_user_of_sudo(const struct sudo_words *words, struct command_user **out)
{
	const struct passwd *entry;
	const char *rest;
	uint32_t uid, gid;

	*out = NULL;
	if (getuid() || geteuid() || (!words->uid && !words->gid && !words->user))
		return 0;
	if (!words->uid || !words->user)
		return fail_plain(-EINVAL,
				  "cannot tell who called sudo: %s is not set, but other variables of sudo are; give "
				  "--user NAME, or --user root to run the command as root",
				  words->uid ? "SUDO_USER" : "SUDO_UID");
	if (!read_id(words->uid, '\0', &uid, &rest))
		return refuse("SUDO_UID", words->uid, "which is not a UID");
	if (words->gid && !read_id(words->gid, '\0', &gid, &rest))
		return refuse("SUDO_GID", words->gid, "which is not a GID");
	entry = entry_of(words->user, 0);
	if (!entry && errno)
		return fail(-errno, "cannot look up %s, who called sudo, in the user database", words->user);
	if (!entry)
		return refuse("SUDO_USER", words->user, "which is not the name of a user");
	if (entry->pw_uid != uid)
		return refuse("SUDO_UID", words->uid, "which is not the UID of the user in SUDO_USER");
	return uid ? user_of_entry(entry, out) : 0;
}

void command_user_free(struct command_user *user)
{
	if (!user)
		return;
	free(user->groups);
	free(user->name);
	free(user->home);
	free(user->shell);
	free(user);
}

static int check_became(const struct command_user *user)
{
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;

	if (getresuid(&real, &effective, &saved) || getresgid(&real_group, &effective_group, &saved_group))
		return -errno;
	if (real != user->uid || effective != user->uid || saved != user->uid || real_group != user->gid ||
	    effective_group != user->gid || saved_group != user->gid)
		return -EPERM;
	return 0;
}

int command_user_become(const struct command_user *user)
{
	int err;

	/* Groups first: without the privileges of the old user they could not be changed. */
	if (setgroups(user->group_count, user->groups) || setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -errno;
	/* Until the exec this is pinch's memory: nothing of the user's may look at it. */
	prctl(PR_SET_DUMPABLE, 0);
	/* Securebits may keep them through a change of user. */
	err = user->uid ? capabilities_drop() : 0;
	if (!err)
		err = check_became(user);
	if (err)
		return err;
	/* Who has root's keyring can use what is in it. Kernels without keys have none to lose. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM)
		return -errno;
	if (setenv("HOME", user->home, 1) || setenv("USER", user->name, 1) || setenv("LOGNAME", user->name, 1) ||
	    setenv("SHELL", user->shell, 1))
		return -ENOMEM;
	return 0;
}
