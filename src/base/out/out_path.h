/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a file lies that is to be written, held open so that nobody can put another place there meanwhile.
 * A symbolic link is followed if nobody else can have meant something by it: it is the user's or root's, or
 * leads to a directory of the link's own owner, who could do there what he likes anyway.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct out_path {
	int directory;           /* O_PATH; -1: the path names a descriptor */
	char name[NAME_MAX + 1]; /* in it */
	struct stat directory_status;
	int file;           /* O_PATH of what bears the name, which is no link; -1: nothing does */
	struct stat status; /* of it */
	int descriptor;     /* one of ours that the path names, as /dev/fd/63 does; -1: none */
};

/*
 * 0 or a negative errno: -ELOOP if a link of somebody else is in the way, -EISDIR if a directory bears the
 * name. Nothing is said. out is to be ended in either case.
 */
int out_path_find(const char *path, struct out_path *out);

/* The same for a name in a directory that is open already, and is only borrowed; no link is followed. */
int out_path_find_at(int directory, const char *name, struct out_path *out);

/* Only the directory in which such a file lies; the caller closes it. Or a negative errno. */
int out_path_directory(const char *path);

/* Looks again at what bears the name. 0, also if nothing does, or a negative errno. */
int out_path_look_again(struct out_path *out);

void out_path_fini(struct out_path *out);

/* Whether it belongs to who runs this, or to root. */
bool is_trusted_owner(const struct stat *status);

/* Whether nobody but these can change what is in the directory. */
bool is_private_directory(const struct stat *status);
