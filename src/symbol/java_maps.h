/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the traced Java virtual machines write the names of the code that they compiled: when they are seen and can be
 * asked, then 1, 2, 4, 8 … s later, and at the end. What a name stands for at two times differs at most where code was
 * thrown away: the last file counts. Only live, and only if the user wants it.
 */
#pragma once

#include <stdint.h>

struct helper_pair;
struct java_maps;
struct mapped_files;
struct notes;
struct session;

/* Subscribes to session, begins to ask; all are borrowed. NULL, after a note, if that cannot be. */
struct java_maps *java_maps_new(struct session *session, struct helper_pair *helpers, struct mapped_files *files,
				struct notes *notes);
void java_maps_free(struct java_maps *maps);

/* Takes answers in and asks who is due. To be called often; NULL is fine. */
void java_maps_step(struct java_maps *maps);

/* Asks all that live a last time, and waits for their answers, at most limit_ns. NULL is fine. */
void java_maps_finish(struct java_maps *maps, uint64_t limit_ns);
