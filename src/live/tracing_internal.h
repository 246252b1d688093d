/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tracing.c, tracing_step.c, tracing_targets.c, tracing_findings.c and tracing_report.c share of one run of tracing. */
#pragma once

#include "base/pause.h"
#include "engine/engine.h"
#include "live/deferral.h"
#include "live/sampling_watch.h"
#include "live/tracing.h"

enum { POLL_MS_FIRST = 1 }; /* as long as processes begin, and map libraries */

struct tracing {
	const struct settings *settings;
	struct kernel *kernel;
	struct sideband *sideband;
	struct engine engine;
	struct kernel_types *kernel_types;
	struct unwinder *unwinder;
	struct titles *titles;
	struct cgroup_limits *cgroups;
	struct machine_use *machine_use;
	struct goroutines *goroutines;
	struct jvms *jvms;
	struct clock_watch *clocks;       /* NULL: no other host's are recorded */
	struct resolver *resolver;        /* NULL: nobody asked for names of hosts */
	struct span_functions *functions; /* NULL: no span is of one */
	struct usdt_probes *usdt;         /* NULL: none are recorded */
	struct collector *collector;
	struct own_areas *own_areas;
	struct own_trigger *own_trigger; /* NULL: none was asked for */
	struct klock_spec *klock_spec;   /* NULL: acquisitions are not counted */
	struct recorder *recorder;       /* NULL: no trace is written */
	struct serving *serving;         /* of what happens, to whoever asks for it */
	struct memory_trace *memory;     /* the trace is for the report alone; NULL: there is none, or it has a file */
	int signal_fd;
	const struct tracing_watch *watch; /* NULL: nothing */
	struct sampling_watch sampling;
	struct deferral deferral;
	struct pause taking_in; /* unless somebody else is let in, who does that, too */
	uint64_t opened_ns, started_ns, started_cpu_ns;
	uint64_t suspended_ns;           /* of this machine, before */
	uint64_t ended_ns, ended_cpu_ns; /* 0: it goes on; the command may have ended before */
	uint64_t command_ended_ns;       /* 0: there is none, or it goes on */
	uint64_t polled_ns;              /* when the rings were drained last */
	int poll_ms;                     /* until they are again */
	unsigned long slack_ns;
	/* Of the processes to attach to: their children that ran already; those that were not there any more. */
	struct pid_list children, gone;
	struct newcomers *newcomers; /* NULL: none are awaited */
};

/* tracing_targets.c: begins to name what runs in processes that were awaited, and that have come. */
struct newcomers *newcomers_new(struct tracing *tracing);
void newcomers_free(struct newcomers *newcomers);
void tracing_take_newcomers(struct tracing *tracing);

/* tracing_findings.c: a trace has the names of all paths, however many the report shows. */
void tracing_name_all(struct tracing *tracing);

/* tracing_findings.c: sentences for the user that only tracing knows of, with a NUL after each. */
void tracing_put_notes(struct tracing *tracing, struct text *notes);

/* tracing_targets.c: of processes that were left out or taken in: sentences with a NUL after each. */
void tracing_put_target_notes(const struct tracing *tracing, struct text *notes);
