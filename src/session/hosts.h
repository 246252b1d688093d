/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hosts of a trace that has several, as clock.HOST names them: each has ids of processes and threads, and CPUs, of its own.
 * Owns what it hands out; names stay valid until hosts_free(). A trace of one host has none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hosts;
struct session;

/* The bits of an id as its own host numbers it (PID_MAX_LIMIT of the kernel): above them is the host's number. */
enum { HOST_ID_SHIFT = 22, HOSTS_MAX = 64 };

struct hosts *hosts_new(struct session *session);
void hosts_free(struct hosts *hosts);

/* What the host is called that has an id of a process or thread, as anyone may have written it; NULL: there is only one host. */
const char *hosts_name(const struct hosts *hosts, uint32_t id);

/* The id as its own host numbers it. */
static inline uint32_t id_on_host(uint32_t id)
{
	return id & ((1u << HOST_ID_SHIFT) - 1);
}

static inline uint32_t host_of_id(uint32_t id)
{
	return id >> HOST_ID_SHIFT;
}
