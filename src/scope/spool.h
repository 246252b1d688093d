/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that was received, in a file without a name: it is read like any other. */
#pragma once

struct receiver_options;
struct spool;

/* Receives it. 0 or a negative errno, after a message. */
int spool_open(const struct receiver_options *options, struct spool **out);

/* The same of what a descriptor has, such as a pipe, up to its end. */
int spool_open_fd(int fd, struct spool **out);
void spool_close(struct spool *spool);

/* Opens it, as long as the spool is there. */
const char *spool_path(const struct spool *spool);
