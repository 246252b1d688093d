/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the worker: where the Java virtual machines of processes keep their code, and which methods it is of. */
#pragma once

#include <stdbool.h>

struct answer;
struct jvm_answer;
struct object;
struct question;
struct worker_jvm;

struct worker_jvm *worker_jvm_new(int opener);

/* Of a QUESTION_JVM about the object's file. */
void worker_jvm_answer(struct worker_jvm *jvm, const struct question *question, struct object *object,
		       struct jvm_answer *answer);

/* Of a QUESTION_METHODS; without frames: there are none, or they cannot be read. */
void worker_jvm_methods(struct worker_jvm *jvm, const struct question *question, struct object *object,
			struct answer *answer);
