/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shim_X puts the address that a call of X returns to on the shadow stack and jumps to X, whose
 * stack is as if it had been called. The entry is a SHADOW_TAIL: what X jumps to in its last
 * instruction tells the same address again. Only r10 and r11 change, which no function gets
 * arguments in.
 */
	.text

	.macro shim name
	.globl	shim_\name
	.type	shim_\name, @function
	.p2align 4
shim_\name:
	.cfi_startproc
	endbr64
	movq	shadow_count@GOTPCREL(%rip), %r11
	movq	(%r11), %r10
	incq	(%r11)
	shlq	$4, %r10
	addq	shadow_entries@GOTPCREL(%rip), %r10
	movq	(%rsp), %r11
	movq	%r11, (%r10)
	movq	$1, 8(%r10)
	jmp	\name@PLT
	.cfi_endproc
	.size	shim_\name, . - shim_\name
	.endm

	shim	qsort
	shim	bsearch
	shim	lfind
	shim	tfind
	shim	twalk
	shim	pthread_once
	shim	dl_iterate_phdr
	shim	raise
	shim	memcpy
	shim	memset
	shim	strlen
	shim	exit
	shim	abort
#ifdef SHADOW_CXX
	shim	__cxa_throw
	shim	__cxa_rethrow
	shim	__cxa_end_catch
#endif

	.section .note.GNU-stack, "", @progbits
