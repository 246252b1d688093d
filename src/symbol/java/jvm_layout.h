/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a HotSpot virtual machine has what, as it says itself (OpenJDK: runtime/vmStructs.cpp). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/java/jvm_exports.h"

/* Fields that are looked for. */
enum jvm_field {
	JVM_HEAPS,
	JVM_ARRAY_LENGTH,
	JVM_ARRAY_DATA,
	JVM_HEAP_MEMORY,
	JVM_HEAP_SEGMENTS,
	JVM_HEAP_BITS,
	JVM_SPACE_LOW,
	JVM_SPACE_HIGH,
	JVM_BLOCK_HEADER,
	JVM_HEADER_USED,
	JVM_BLOB_FRAME,
	JVM_BLOB_COMPLETE,
	JVM_BLOB_COMPLETE_SHORT, /* the same, in 2 bytes */
	JVM_BLOB_CODE,
	JVM_BLOB_CODE_OFFSET, /* the same, as an offset */
	JVM_INTERPRETER,
	JVM_ENTRY,
	JVM_QUEUE_BUFFER,
	JVM_QUEUE_LIMIT,
	/* Of compiled methods. */
	JVM_BLOB_NAME,
	JVM_COMPILED_METHOD,
	JVM_COMPILED_PLACES, /* of which what is inlined is known */
	/* Up to version 22 all of it lies in the blob: offsets there; of the scopes it is an address that does. */
	JVM_COMPILED_SCOPES,
	JVM_COMPILED_METADATA,
	JVM_COMPILED_PLACES_END,
	/* From version 25 on it lies in two blocks: offsets in these. */
	JVM_COMPILED_CONSTANT, /* the address of one, which begins with places and scopes */
	JVM_COMPILED_SCOPES_OFFSET,
	JVM_BLOB_MUTABLE, /* the address of the other, which has metadata behind relocations */
	JVM_BLOB_RELOCATION_BYTES,
	JVM_PLACE_CODE,
	JVM_PLACE_SCOPE,
	JVM_METHOD_CONST,
	JVM_CONST_POOL,
	JVM_CONST_NAME,
	JVM_CONST_CODE_BYTES,
	JVM_CONST_FLAGS,
	JVM_POOL_HOLDER,
	JVM_POOL_SOURCE, /* of its class, in two versions */
	JVM_HOLDER_SOURCE,
	JVM_CLASS_NAME,
	JVM_SYMBOL_LENGTH,
	JVM_SYMBOL_TEXT,
	JVM_VERSION,
	JVM_FIELDS,
};

/* Types whose sizes are looked for. */
enum jvm_type { JVM_BLOCK, JVM_PLACE, JVM_POOL, JVM_CONST, JVM_TYPES };

struct jvm_layout {
	uint64_t at[JVM_FIELDS]; /* offsets, bytes; of static ones the address */
	bool has[JVM_FIELDS];
	uint64_t size_bytes[JVM_TYPES]; /* 0: not found */
};

/* Whatever is found of it; JVM_NOT_READY: the library has not been loaded wholly. */
enum jvm_result jvm_layout_read(const struct jvm_memory *memory, const struct jvm_exports *exports, uint64_t bias,
				struct jvm_layout *layout);
