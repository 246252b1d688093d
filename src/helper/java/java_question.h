/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot's attach protocol, from the client's side (OpenJDK: attachListener_posix.cpp, VirtualMachineImpl.java).
 *
 *     we                                        the virtual machine
 *     make /tmp/.attach_pidN
 *     SIGQUIT ─────────────────────────────────▶ sees the file, which is its user's: listens
 *                                                at /tmp/.java_pidN
 *     connect, "1" "jcmd" "Compiler.perfmap" ──▶ writes /tmp/perf-N.map
 *             ◀── "0\n": a number, 0: done, and a text
 *
 * N is its process id as it sees it. Where it listens already, no signal is sent.
 */
#pragma once

#include "helper/java/java_process.h"

/* For the user of the process, who we are. Waits at most limit_ns. */
enum java_result java_question_ask(const struct java_process *process, uint64_t limit_ns);
