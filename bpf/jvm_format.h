/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side must know of a HotSpot virtual machine to find callers in the code that it generates. The
 * machine says it itself, by way of the engine (src/symbol/java/jvm_read.c).
 */
#pragma once

#include <linux/types.h>

enum {
	JVM_HEAPS_MAX = 4,
	JVM_SEGMENT_IS_FREE = 0xff, /* in a map of segments */
};

/* A heap of code: blocks of segments. */
struct jvm_heap {
	__u64 begin, end;
	__u64 segments; /* address of its map, a byte a segment: how many before it the block, or a nearer hop, begins */
};

/* The machine of a process. Offsets are in bytes. */
struct jvm_process {
	__u64 begin, bytes; /* all heaps lie there; no bytes: no machine */
	__u64 interpreter_begin, interpreter_bytes;
	__u64 entry;                          /* in a stub: Java code that the machine itself calls returns there */
	struct jvm_heap heaps[JVM_HEAPS_MAX]; /* those beyond heap_count are empty */
	__u32 heap_count;
	__u32 segment_bits;  /* a segment has 1 << segment_bits bytes */
	__u32 block_bytes;   /* in a block before the blob of code */
	__u16 block_used;    /* in a block: a byte that is not 0 unless it is free */
	__u16 blob_frame;    /* in a blob: words that a frame of its code takes, 4 bytes, signed; 0: no such frame */
	__u16 blob_code;     /* where its code begins: an address; 4 bytes in the blob if is_code_offset */
	__u16 blob_complete; /* what offset of the code has the frame: signed; -1: none */
	__u8 complete_bytes; /* 2 or 4 */
	__u8 is_code_offset;
	__u8 reserved[6];
};
