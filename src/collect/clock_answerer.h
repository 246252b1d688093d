/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers whoever asks this host's clock, in a process of its own. */
#pragma once

struct clock_answerer;

/* address: as clock_server_open() takes it. 0 or a negative errno, after a message. Comes before there are threads. */
int clock_answerer_open(const char *address, struct clock_answerer **out);

/* NULL is fine. */
void clock_answerer_close(struct clock_answerer *answerer);
