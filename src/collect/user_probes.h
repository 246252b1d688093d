/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes of functions of programs, in whatever process maps the file: of resolvers, and of spans. */
#pragma once

#include <stdint.h>

struct function_place;
struct pinch_bpf;
struct user_probes;

/* Borrows bpf, which is loaded. */
struct user_probes *user_probes_new(struct pinch_bpf *bpf);

/* Attached ones are detached. probes: may be NULL. */
void user_probes_free(struct user_probes *probes);
void user_probes_detach(struct user_probes *probes);

/* Calls of getaddrinfo(), which is at this place of the file. 0 or a negative errno, in silence. */
int user_probes_add_resolver(struct user_probes *probes, const char *path, uint64_t file_offset);

/* Where tasks of this span begin or end. 0 or a negative errno, in silence. */
int user_probes_add_function(struct user_probes *probes, const char *path,
			     const struct function_place *place, uint32_t span);
