/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are written before they have their name. Where a file system knows such without any name, nothing
 * is left of them whatever ends us; elsewhere they have a name that nobody can guess, and are locked as long as
 * somebody writes them.
 */
#pragma once

enum { OUT_TEMPORARY_NAME_BYTES = 32 };

/* Without a name; for its owner alone. A descriptor, or a negative errno: -EOPNOTSUPP, there are none here. */
int out_temporary_open(int directory);

/* The same where large files may lie, or else where there is space at all. */
int out_temporary_open_large(void);

/* With a name. Removes others whose writers are gone. A descriptor, or a negative errno. */
int out_temporary_open_named(int directory, char name[OUT_TEMPORARY_NAME_BYTES]);

/* Gives a file without a name one that nothing bears. 0 or a negative errno: -EEXIST, something does. */
int out_temporary_link(int fd, int directory, const char *name);

/* The same in place of what bears the name, if anything. */
int out_temporary_replace(int fd, int directory, const char *name);
