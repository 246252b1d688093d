/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In the worker: where the Java virtual machines of processes keep their code. */
#pragma once

struct jvm_answer;
struct object;
struct question;

/* Of a QUESTION_JVM about the object's file. */
void worker_jvm_answer(int opener, const struct question *question, struct object *object, struct jvm_answer *answer);
