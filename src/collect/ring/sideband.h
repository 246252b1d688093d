/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the traced processes map, as the kernel's perf events tell it: each executable
 * mapping with its file and build-id, at the moment it is made. Turns them into space.* events.
 */
#pragma once

#include <stdint.h>

#include "session/session.h"

struct sideband;

/* 0, or a negative errno, without a message. */
int sideband_open(struct sideband **out);
void sideband_close(struct sideband *sideband);

/* Follow this process, and those that it forks from now on. */
void sideband_follow(struct sideband *sideband, uint32_t pid);

/* Follow every process. */
void sideband_follow_all(struct sideband *sideband);

/* Pushes what has come in since the last call to that stream of the session. */
void sideband_drain(struct sideband *sideband, struct session *session, unsigned int stream);

/* How full the fullest CPU's buffer is, 0 to 1. */
double sideband_fill(const struct sideband *sideband);

/* Records that the kernel had no space for. */
uint64_t sideband_lost(const struct sideband *sideband);
