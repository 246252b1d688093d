/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the processes that look at traced programs and at their files for us, and starts them again when
 * one of them died or hangs. It is forked early and keeps the privileges for that, which the tool itself
 * gives up; it reads nothing but the tool's own requests.
 *
 *     pinch ──▶ spawner ──▶ opener  (opens files, reads /proc and memory; parses nothing of theirs)
 *                      ├──▶ worker  (parses; may open nothing)
 *                      └──▶ attacher  (asks Java virtual machines, as their users: attacher.h)
 *
 * Owns: the processes that open and read what traced programs made, and how they are asked.
 * Used by: helper/java, symbol/elf, symbol/answer, symbol/go, symbol/java, symbol/jit, symbol/space, symbol/worker, symbol, collect/probe, collect, live, serve, cmd.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The ends of sockets that a helper gets; -1: none. */
struct helper_sockets {
	int tool;       /* to the tool */
	int other;      /* opener: to the worker; worker: to the opener */
	int debuginfod; /* worker: to who asks servers; that one: to the worker */
};

/* All that a helper ever says if it could not give up its privileges: why, an int32_t. No answer is as short. */
enum { HELPER_REFUSAL_BYTES = 4 };

/* It says so, and ends. */
_Noreturn void helper_refuse(const struct helper_sockets *sockets, int err);

/* What each helper is. They never return. */
struct helper_roles {
	void (*open)(const struct helper_sockets *sockets);
	void (*work)(const struct helper_sockets *sockets);
	void (*ask_servers)(const struct helper_sockets *sockets); /* NULL: nobody does */
	void (*attach)(const struct helper_sockets *sockets);      /* started only when it is asked for */
};

/* A pair of helpers as the tool has it. */
struct helpers {
	pid_t opener, worker;             /* 0: not running */
	int opener_socket, worker_socket; /* the caller's */
};

struct spawner;

/* NULL: the process could not be started, and names are not to be had. */
struct spawner *spawner_new(const struct helper_roles *roles);

/* Its helpers end, too; not one of them is waited for. */
void spawner_free(struct spawner *spawner);

/* 0 and a new pair, or a negative errno. A pair that was there before is killed. */
int spawner_start(struct spawner *spawner, struct helpers *helpers);

/*
 * 0 and a new worker in the place of the old one, which is killed; the opener stays. *other is the opener's
 * end of the socket between both, the caller's to give to it.
 */
int spawner_start_worker(struct spawner *spawner, struct helpers *helpers, int *other);

/* 0 and the tool's end of the attacher's socket, the caller's; -ECHILD: it could not be started. Once. */
int spawner_start_attacher(struct spawner *spawner, int *socket);
