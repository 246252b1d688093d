/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that listens to a session and knows no provider: the analyses, and who says what addresses are
 * called. A live run and a trace are analysed by the same engine.
 *
 * Owns: all that listens to a session; recording and replaying it.
 * Used by: query, lanes, rows, export, derive, show, scope, live, cmd.
 */
#pragma once

#include "findings/findings.h"

struct event_filter;
struct stream_names;

struct engine_options {
	unsigned int stream_count; /* of the session */
	uint32_t nmin;             /* 0: half of the living threads */
	bool has_critical_slices;  /* call paths are those at which critical slices ended */
	bool is_spin_inactive;     /* threads that spin are not counted as active */
	bool keeps_strips;         /* what each thread did when */
	bool is_offline;           /* the events are of a trace */
	bool opens_files;          /* those that it names, unless it has names itself */
	/* Of activities: paths, and which events; borrowed. */
	const char *const *scripts;
	size_t script_count;
	struct event_filter *filter; /* NULL: all */
};

struct engine {
	struct engine_options options;
	struct session *session;  /* of the provider, and of those who look at the machine while events come */
	struct session *analyses; /* the same, or what engine_connect() feeds: events may come later there */
	struct backlog *backlog;  /* between these; NULL: they are the same, or not connected */
	struct threads *present;  /* as session has them; NULL: nobody asks */
	struct threads *threads;  /* as analyses have them */
	struct stacks *stacks;
	struct symbols *symbols;
	struct stream_names *names; /* what was taken from these, for all recorders; NULL: there is none */
	struct fold_rules *fold;
	struct run_samples *samples;
	struct code_samples *code;
	struct spin_judge *judge;
	struct files *files;
	struct klocks *klocks;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;
	struct go_waits *go_waits;
	struct accept_queues *accept_queues;
	struct unread_input *unread_input;
	struct cpu_waits *cpu_waits;
	struct block_users *block_users;
	struct resource_use *resources;
	struct criticality *criticality;
	struct hosts *hosts;
	struct decoders *decoders;
};

/* 0, or a negative errno after having said what is wrong with the user's rules. */
int engine_open(struct engine *engine, const struct engine_options *options);

/* All that hands out events of its own has subscribed to the session: from now on analyses get what it has. */
void engine_connect(struct engine *engine);

/* Also of an engine that was not opened, or only in part. */
void engine_close(struct engine *engine);

/* What findings are made of, as far as the engine has it. */
struct findings_input engine_findings_input(const struct engine *engine);
