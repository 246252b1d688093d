/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user as whom a command runs when pinch is root: whom --user names, or else who called sudo. All is looked up
 * before the fork; the child only becomes it. A struct command_user is its finder's to free.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct command_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* the supplementary ones */
	size_t group_count;
	char *name, *home, *shell; /* for USER and LOGNAME, HOME, SHELL */
};

/* What sudo says in the environment, or somebody in its place; NULL: it does not say so. */
struct sudo_words {
	const char *uid, *gid, *user;
};

/*
 * Finds "NAME", "UID" or "UID:GID"; the last one has that group alone and needs no entry in the user database.
 * 0 and NULL in *out for uid 0 without a group: the command keeps what pinch has, if that is root. -EPERM when
 * pinch is not root, -EINVAL when there is no such user, after a message.
 */
int command_user_find(const char *word, struct command_user **out);

/*
 * Finds who called sudo. Believed only while our real and effective user are root, so that all it can do is to
 * lower what the command may. 0 and NULL in *out when nobody did, or root did. -EINVAL when the words do not
 * name one user, after a message: nobody becomes root because of a word that cannot be read.
 */
int command_user_of_sudo(const struct sudo_words *words, struct command_user **out);

void command_user_free(struct command_user *user);

/*
 * Makes this process the user's, for good: groups, group, user, no capability, a session keyring of its own, and
 * the variables HOME, USER, LOGNAME and SHELL. 0 or a negative errno; after an error the process must end.
 */
int command_user_become(const struct command_user *user);
