/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a wait means: what kind it is, and whether it is idle. */
#pragma once

#include <stdint.h>

#include "waits/wait_names.h"

struct findings;
struct wait_path;

/* Of a cause that may be idle; else 0. */
double findings_idle_ns(enum wait_cause cause, double idle_ns);

/*
 * Of waits whose functions are known, at path: what is idle of wait_ns. idle_ns: as long as functions are not looked at. path: NULL: it
 * is not known.
 */
double findings_idle_of(struct findings *findings, const struct wait_path *path, const struct wait_meaning *meaning,
			double idle_ns, double wait_ns);

/* By the functions of its call path. */
struct wait_meaning findings_meaning(struct findings *findings, const struct wait_path *path);

/* The system call of waits that are distinguished by it alone; else NULL. */
const char *findings_other_call(enum wait_cause cause, uint32_t syscall);

/* What was waited for at a path; NULL: it has no name, or there are several. */
const char *findings_object_of(struct findings *findings, const struct wait_path *path, enum wait_cause cause);

/* findings_children.c: "process child (4711)"; NULL when it waits for none, for any, or who knows. */
const char *findings_child_name(struct findings *findings, const struct wait_path *path);
