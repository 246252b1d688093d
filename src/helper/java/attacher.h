/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks Java virtual machines for the names of the code that they compiled. That takes a signal and a connection to the
 * process, as its own user: each is asked by a process of its own, which has given up everything else, and ends in a
 * few seconds. Only with --java-map (doc/decisions/0035).
 *
 * Owns: how a JVM is found and asked for a map of its code.
 * Used by: symbol/worker, symbol.
 */
#pragma once

#include <stdint.h>

struct helper_sockets;

#define ATTACHER_NAME "pinch-attacher"

/* What became of it. */
enum java_result {
	JAVA_WRITTEN,   /* the file is there: jit_place.h */
	JAVA_GONE,      /* the process has ended */
	JAVA_OTHER,     /* it is no HotSpot virtual machine */
	JAVA_DEAF,      /* it does not catch SIGQUIT: it is starting, or runs with -Xrs */
	JAVA_DISABLED,  /* it runs with -XX:+DisableAttachMechanism */
	JAVA_USER,      /* we may not become its user */
	JAVA_DIRECTORY, /* nothing can be written to its /tmp, or what is in the way is another user's */
	JAVA_SILENT,    /* no answer in time */
	JAVA_OLD,       /* it does not know Compiler.perfmap, which is of JDK 17 */
	JAVA_REFUSED,   /* its answer was an error */
	JAVA_RESULTS,
};

/* A question is a process's pid, a uint32_t; several may be open. This is its answer. */
struct java_answer {
	uint32_t pid;
	uint32_t result;
};

/* The process that has them asked. */
void attacher_serve(const struct helper_sockets *sockets);
