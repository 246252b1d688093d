/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of a scope of all sessions of the machine, in a process of its own: it gets one trace of what they send. */
#pragma once

struct scope;

/*
 * Serves the only client of the scope (scope_take()), until it has its trace, which ends when it wants that, or after a
 * signal (SIGINT, SIGTERM, SIGHUP). 0 or a negative errno, after a message.
 */
int sessions_client_run(struct scope *scope);
