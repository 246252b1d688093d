/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from a running HotSpot virtual machine where it keeps the code that it generates, and how: it describes its
 * own structures for debuggers, in tables whose addresses its library exports (OpenJDK: runtime/vmStructs.cpp). The
 * memory is another process's, and may hold anything.
 *
 * Owns: what is known of HotSpot: how it keeps its code, and what its methods are called.
 * Used by: symbol/object, symbol/worker.
 */
#pragma once

#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/java/jvm_layout.h"

/* bias: what addresses in memory are more than the file's. Fills in all of the layout and of the answer. */
void jvm_read(const struct jvm_memory *memory, const struct jvm_exports *exports, uint64_t bias,
	      struct jvm_layout *layout, struct jvm_answer *answer);
