/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where events happen and who causes them: which CPU a thread is on, and what processes are called. A context belongs to a
 * session. What it returns is borrowed and valid until another event is delivered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event_context;
struct session;
struct threads;

/* No CPU is known. */
#define CPU_UNKNOWN UINT32_MAX

/*
 * Subscribes to session, after threads. follows_cpus: event_context_cpu() will be asked, which costs something at each
 * switch.
 */
struct event_context *event_context_new(struct session *session, struct threads *threads, bool follows_cpus);
void event_context_free(struct event_context *context);

/* NULL: number is 0, or nothing is known of the thread. */
const struct thread *event_context_thread(const struct event_context *context, uint32_t number);

/* The CPU that the thread has, or had last; CPU_UNKNOWN. */
uint32_t event_context_cpu(const struct event_context *context, uint32_t number);

/*
 * What a process calls itself in its own events, or else the name of its first thread. The bytes are the program's. Empty: not
 * known.
 */
const char *event_context_application(const struct event_context *context, uint32_t pid);

/* The host of a process of this id; empty: there is only one. */
const char *event_context_host(const struct event_context *context, uint32_t pid);

/* The name of its first thread. Empty: not known. */
const char *event_context_process(const struct event_context *context, uint32_t pid);
