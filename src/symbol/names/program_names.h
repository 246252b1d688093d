/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that programs run under, where their files have other ones: by the thread.TITLE events of a session. */
#pragma once

#include <stdint.h>

struct names;
struct program_names;
struct session;

/* Subscribes to session; borrows both. */
struct program_names *program_names_new(struct session *session, struct names *names);
void program_names_free(struct program_names *programs);

/* What a process runs a file as; NULL: by the file's own name, which this is. Lives as long as names. */
const char *program_names_find(const struct program_names *programs, uint32_t pid, const char *file);
