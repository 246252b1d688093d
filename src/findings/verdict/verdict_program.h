/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several programs a verdict is about: that whose threads lost the time. */
#pragma once

struct findings;
struct report_blocker;
struct report_finding;
struct report_path;

/*
 * The program of the threads that waited, of a finding; that of the path, of code. pid is 0 where it has several processes,
 * tid where it is several threads; name is that of its process. It lives in the arena of the findings. NULL: one program
 * only was traced, or it is several programs, or not known.
 */
const struct report_blocker *verdict_program(struct findings *findings, const struct report_finding *finding,
					     const struct report_path *path);

/* "mariadbd (pid 812): ", "nginx, thread worker: "; "" if program is NULL. */
const char *verdict_program_words(struct findings *findings, const struct report_blocker *program);
