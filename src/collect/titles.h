/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the traced processes call themselves: what they write over their command lines, as servers do to say what a process
 * is for ("postgres: checkpointer"), and the name that a program runs under, if its file has another one: redis-server is
 * a link to redis-check-rdb. Arguments are not read: they may be secret. Read when a process is first seen, some time after it began or executed a program, and at the
 * end, of so many as live at a time; recorded as thread.TITLE of its first thread.
 */
#pragma once

struct session;
struct symbols;
struct titles;

/* Subscribes to session; both are borrowed. */
struct titles *titles_new(struct session *session, struct symbols *symbols);
void titles_free(struct titles *titles);

/* Reads what is due. To be called often. */
void titles_step(struct titles *titles);

/* Reads those of all processes that live. */
void titles_finish(struct titles *titles);
