/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user asked for, and how it is read from the command line.
 *
 * Owns: what the user asked for.
 * Used by: engine, query, lanes, show, live, agent, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/event_filter.h"
#include "activity/script_language.h"
#include "collect/kernel.h"
#include "collect/probe/span_spec.h"
#include "collect/probe/usdt_spec.h"
#include "collect/target/targets.h"
#include "compare/comparison.h"
#include "options/command.h"
#include "options/own_trigger_spec.h"
#include "report/wait_choice.h"
#include "trace/trace_ring.h"
#include "tui/rows/pages.h"
#include "whatif/element.h"

/* A part of a trace, since its first event. */
struct time_range {
	uint64_t from_ns, to_ns; /* to_ns: UINT64_MAX: to the end */
	bool is_monotonic;       /* they are of CLOCK_MONOTONIC: pinch cut alone */
};

enum dump_list { DUMP_EVENTS, DUMP_ACTIVITIES, DUMP_STATISTICS };
enum dump_form { DUMP_TEXT, DUMP_JSON, DUMP_LOG };

struct dump_options {
	enum dump_form form;
	enum dump_list list;
};

enum { THREAD_WORDS_MAX = 512 };

/* Threads as the user calls them. */
/* Which executions are looked at: names of spans, lengths. */
enum { SPAN_WORDS_MAX = 12 };
struct span_words {
	const char *words[SPAN_WORDS_MAX];
	size_t count;
};

struct thread_words {
	const char *words[THREAD_WORDS_MAX];
	size_t count; /* 0: all */
};

struct graph_settings {
	uint32_t depth_max; /* 0: the default */
	double share_min;
	bool is_by_group;                /* threads of one name are one, and so are equal contexts */
	bool is_whole;                   /* of all threads and all the time */
	const char *dot_path, *svg_path; /* NULL: not asked for */
	const char *execution;           /* NULL: not one of a span's */
};

enum { FAIL_IF_MAX = 32, CGROUPS_MAX = 8 };

struct compare_settings {
	uint32_t group_count;    /* 0: as many as fit best */
	uint32_t between[SIDES]; /* groups that are compared, from 1 on; 0: the fastest and the slowest one */
	uint32_t group;          /* the one that is shown alone; 0: none */
	bool by_figure[FIGURES]; /* what makes executions different; all false: every figure */
	const char *span;        /* NULL: the only one */
	bool has_cycle;          /* executions are not of a span, but from one wait for this cause to the next */
	enum wait_cause cycle;
	const char *executions_path; /* for a table of the executions; NULL: not asked for */
	const char *fail_if[FAIL_IF_MAX];
	size_t fail_if_count;
};

struct whatif_settings {
	const char *names[ELEMENT_CPUS]; /* what is to be shorter; NULL: not asked for */
	double scale;
	uint32_t cpu_count; /* 0: as many as its threads ran on */
};

enum { SWITCHES_MAX = 64 };

/* Programs that record events of their own: what is done with them. */
struct outside_settings {
	struct {
		const char *names;
		bool is_on;
	} switches[SWITCHES_MAX]; /* in the order given */
	size_t switch_count;
	const char *start, *stop; /* events; NULL: not given */
	bool has_mode;
	uint32_t mode;  /* PINCHTRACE_MODE_X */
	uint32_t count; /* 0: without a limit */
	bool clears_triggers, lists, takes_snapshot, removes;
};

/* Where a trace is served, or read from. */
struct stream_settings {
	const char *listen;             /* NULL: nothing is served */
	const char *tls_cert, *tls_key; /* files; NULL: without TLS */
	const char *tls_ca;             /* a file; NULL: the system's */
	const char *token;              /* a file; NULL: there is none */
};

/* Where a page is served for other machines. */
struct door_settings {
	const char *listen;             /* HOST:PORT; NULL: it is not */
	const char *tls_cert, *tls_key; /* files */
};

/* 0; -EINVAL, after a message: they need each other. */
int door_check(const struct door_settings *door);

enum { CLOCK_PEERS_MAX = 8 };

struct clock_settings {
	bool is_server;
	uint32_t count;                     /* of samples; 0: the default */
	const char *peers[CLOCK_PEERS_MAX]; /* addresses of hosts whose clocks are recorded */
	size_t peer_count;
};

enum { AGENT_TRIGGERS_MAX = 3 };

/* How a machine is watched for ever. */
struct agent_settings {
	const char *directory; /* of what is kept */
	uint64_t size_bytes;   /* of traces */
	double budget;         /* of the machine's CPU time, 0 to 1 */
	uint64_t window_ns;    /* the longest one */
	uint64_t duration_ns;  /* 0: until it is stopped */
	const char *triggers[AGENT_TRIGGERS_MAX];
	size_t trigger_count;
	const char *target[2];       /* options of pinch record: "--cgroup", "DIR"; "--all", NULL */
	const char *metrics_address; /* NULL: none are given */
};

struct settings {
	struct kernel_options kernel;
	uint64_t duration_ns;                           /* 0: until the end */
	uint32_t path_count_max;                        /* --top */
	bool has_path_count;                            /* it was given */
	bool is_by_begin;                               /* spans only */
	const char *json_path, *text_path;              /* NULL: not asked for; text goes to the terminal then */
	const char *html_path, *folded_path, *csv_path; /* the same */
	const char *trace_path;                         /* NULL: no trace is written */
	const char *metrics_address;                    /* NULL: none are given */
	const char *user;                               /* as whom a command runs; NULL: as who calls pinch, or sudo */
	struct own_trigger_spec own_trigger;            /* what starts programs' own events */
	struct span_specs spans;                        /* --span of what is recorded */
	struct usdt_specs usdt;                         /* --usdt */
	struct trace_ring_options ring;                 /* zeros: the trace grows as long as tracing runs */
	bool is_recording;                              /* for a trace alone: no text unless it is asked for */
	bool is_reporting;                              /* nothing is traced: text goes to standard output */
	uint32_t pages;                                 /* --page; 0: the text as a whole */
	bool is_quiet, is_verbose, has_tui, wants_help;
	const char *export_format;   /* NULL: not given */
	uint16_t port;               /* of pinch view; 0: one that is free */
	bool has_port;               /* it is given */
	bool compares_executions;    /* the page of pinch view is that of groups of executions */
	bool opens_files;            /* which a trace without names names */
	enum page_number first_page; /* of the terminal UI; KLOCKS: of the page for a browser, too */
	bool counts_acquisitions;    /* of kernel locks */
	bool has_critical_slices;    /* call paths are those at which critical slices ended */
	bool asks_java;              /* JVMs for the names of their code */
	bool is_spin_inactive;       /* threads that spin are not counted as active */
	/* attach only */
	struct pid_list targets, gone; /* gone: named, and not there */
	bool has_target;
	bool has_no_children;        /* those of targets that run already are not traced */
	int cgroup_fds[CGROUPS_MAX]; /* directories of control groups into which more may come */
	size_t cgroup_count;
	char *own_span;                /* two events of a program's own; NULL: none were given */
	struct time_range range;       /* of all that have range_options */
	struct thread_words threads;   /* of all that have thread_options */
	struct thread_words processes; /* graph and critical-path */
	struct dump_options dump;      /* dump only */
	struct wait_choice choice;     /* of all that have choice_options */
	struct span_words span_words;  /* the same */
	struct event_filter filter;    /* of all that have filter_options; and so are the next two */
	const char *scripts[SCRIPTS_MAX];
	size_t script_count;
	struct graph_settings graph;     /* graph, critical-path and compare */
	struct compare_settings compare; /* compare only */
	struct whatif_settings whatif;   /* whatif only */
	struct outside_settings outside; /* trace only */
	struct stream_settings stream;   /* scope, and what reads traces of one */
	struct agent_settings agent;
	struct door_settings door;    /* view */
	struct clock_settings clocks; /* clocks, and record */
};

void settings_init(struct settings *settings);
void settings_fini(struct settings *settings);

/*
 * Reads the options in argv[1..]. 0 and the index of the first other argument in *rest, or
 * -EINVAL or what a setter returned, after a message.
 */
int settings_parse(struct settings *settings, const struct command *command, int argc, char **argv, int *rest);

/* The argument of an option as a number; -EINVAL after having said what the option takes. */
int number_parse(const char *option, const char *argument, unsigned long min, unsigned long max, uint32_t *number);

/* Setters of --json, --output and --duration, for all commands that have them. */
int settings_set_json(struct settings *settings, const char *argument);
int settings_set_output(struct settings *settings, const char *argument);
int settings_set_duration(struct settings *settings, const char *argument);

/*
 * Options in common: of all that trace; of those that show it as it goes on; of all that report; of
 * both.
 */
extern const struct option_spec trace_options[], watch_options[], report_options[], quiet_options[];

/* Of all that start a command. */
extern const struct option_spec start_options[];

/* Of kernel locks. */
extern const struct option_spec acquisition_options[];

/* Of a trace: how it is shown. */
extern const struct option_spec tui_options[];

/* Other forms of a report; the first is that of whatever can be drawn. */
extern const struct option_spec html_options[], table_options[];

/* Of all that name what a trace has. */
extern const struct option_spec names_options[];

/* Those of every command; the last list. */
extern const struct option_spec common_options[];

/* Whom to trace that runs already. */
extern const struct option_spec target_options[];

/* Of programs that record events of their own: which, and what is done. */
extern const struct option_spec program_options[], switch_options[];

/* Closes the control groups. */
void targets_close(struct settings *settings);

/* Says which of these are not there. 0, or -ESRCH when none is. */
int targets_check(const struct settings *settings);

/* Which part of a trace. */
extern const struct option_spec range_options[], thread_options[];

/* Which events of a trace, and what scripts find in them. */
extern const struct option_spec filter_options[];
extern const struct option_spec script_options[]; /* of these, --script alone */

/* Which waits: what is said of waits is of these alone. */
extern const struct option_spec choice_options[];
extern const struct option_spec part_options[]; /* of commands that have filter_options, too */
extern const struct option_spec cpu_options[];  /* of others */

/* How dependencies are shown: whose, where threads can be one, as a picture, in any case. */
extern const struct option_spec whose_options[], merged_options[], picture_options[], dependency_options[];

/* Whether what was given of the part fits together. */
int dependency_check(const struct settings *settings);

/*
 * Of a scope: where it listens, and who may read. Of its readers: how they show that they may; and, unless they have it
 * anyway, how long they read.
 */
extern const struct option_spec scope_options[], door_options[], stream_options[], receive_options[];

/* Where a trace goes that is made of others. */
extern const struct option_spec made_trace_options[];
