/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a finding calls files, where it is about many of them: by what they have in common. */
#pragma once

#include <stdint.h>

struct findings;
struct report_finding;

/* "12,403 files under /srv/cache": those that threads waited for, in it and below; without their number if ns of it are a part only. */
const char *file_group_words(struct findings *findings, const char *directory, double lost_ns);

/* Says in which system calls most of the waiting for files of the directory was. */
void file_group_say_calls(struct findings *findings, struct report_finding *row, const char *directory);

/*
 * The directory that the files are in that most of the waiting for files was for, if they are several, and not in "/" alone; of
 * the ns of it that are asked about, half at least were for files there. It lives in the arena of the findings. NULL: there is none.
 */
const char *file_group_directory(struct findings *findings, double lost_ns);
