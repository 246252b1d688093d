/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences for the user about what could not be named, and what to do about it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct module;
struct notes;

struct notes *notes_new(void);
void notes_free(struct notes *notes);

/* The list ends with its count, not with NULL; valid until the next note. */
size_t notes_list(const struct notes *notes, const char *const **list);

/* Whether notes are taken from now on; they are at first. */
void notes_open(struct notes *notes, bool is_open);

void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says once, of a module with a runtime whose functions we could name, that its version is none that we know. */
void notes_add_runtime(struct notes *notes, struct module *module);

/* Says once what the module's flags and failures mean. */
void notes_add_module(struct notes *notes, struct module *module);
