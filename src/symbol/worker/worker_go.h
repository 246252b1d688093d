/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the worker: goroutines of processes. How a file's runtime lays them out is found once. */
#pragma once

#include <stddef.h>

#include "symbol/answer/answer.h"

struct object;
struct question;
struct worker_go;

struct worker_go *worker_go_new(int opener);

/* Of a QUESTION_GOROUTINES about the object's file. Returns how many bytes of the answer count. */
size_t worker_go_answer(struct worker_go *go, const struct question *question, struct object *object,
			struct go_answer *answer);
