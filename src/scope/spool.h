/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that was received, in a file without a name: it is read like any other. */
#pragma once

struct receiver_options;
struct spool;

/* An empty one, to be written through spool_fd(). 0 or a negative errno, after a message. */
int spool_new(struct spool **out);
int spool_fd(const struct spool *spool);

/* Receives it. 0 or a negative errno, after a message. */
int spool_open(const struct receiver_options *options, struct spool **out);

/* The same of what a descriptor has, such as a pipe, up to its end. */
int spool_open_fd(int fd, struct spool **out);
void spool_close(struct spool *spool);

/* Opens it, as long as the spool is there. */
const char *spool_path(const struct spool *spool);

/* Puts a copy of it in place of what a path has. 0 or a negative errno; nothing is said. */
int spool_keep(const struct spool *spool, const char *path);
