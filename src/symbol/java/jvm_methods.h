/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which methods code is of that a HotSpot virtual machine compiled: it keeps for places in the code, those of calls and of
 * polls, which methods were inlined there, for itself and for debuggers (OpenJDK: code/pcDesc.hpp, code/scopeDesc.cpp,
 * code/compressedStream.cpp). All of it is read in the memory of the process, which changes meanwhile and may hold anything.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/java/jvm_layout.h"

struct answer;
struct jvm_process;

/* Methods of one machine that were read before. */
struct jvm_methods *jvm_methods_new(const struct jvm_layout *layout, const struct jvm_process *process);
void jvm_methods_free(struct jvm_methods *methods);

/*
 * The methods of the code at an address, innermost first, as an answer. Of an address between the known places, the next
 * one's are given. False: the machine does not describe itself so far, or there is no method's code.
 */
bool jvm_methods_find(struct jvm_methods *methods, const struct jvm_memory *memory, uint64_t address,
		      struct answer *answer);

/* The same of the method at an address, which has no code: with the line where it begins. */
bool jvm_methods_of_interpreter(struct jvm_methods *methods, const struct jvm_memory *memory, uint64_t address,
				struct answer *answer);
