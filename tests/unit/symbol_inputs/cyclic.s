# SPDX-License-Identifier: GPL-2.0-or-later
# Debug information that leads in circles: each variable's type is made of itself.

	.data
	.macro variable name
	.globl \name
	.type \name, @object
	.size \name, 64
	.balign 64
\name:	.zero 64
	.endm
	variable of_typedefs
	variable of_structure
	variable of_array
	variable of_base
	variable of_specification
	variable of_type_behind_sibling

	.text
	.globl _start
	.type _start, @function
_start:	ret
	.size _start, . - _start

	.section .debug_abbrev, "", @progbits
.Labbrev:
	.macro abbreviation code, tag, children, attributes:vararg
	.uleb128 \code, \tag
	.byte \children
	.uleb128 \attributes, 0, 0
	.endm
	abbreviation 1, 0x11, 1, 0x13, 0x05			# unit: language
	abbreviation 2, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18	# variable: name, type, location
	abbreviation 3, 0x16, 0, 0x03, 0x08, 0x49, 0x13		# typedef: name, type
	abbreviation 4, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b		# structure: name, size
	abbreviation 5, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b	# member: name, type, place
	abbreviation 6, 0x01, 1, 0x49, 0x13			# array: type
	abbreviation 7, 0x21, 0, 0x37, 0x0b			# its range: count
	abbreviation 8, 0x1c, 0, 0x49, 0x13, 0x38, 0x0b		# base: type, place
	abbreviation 9, 0x13, 1, 0x47, 0x13, 0x0b, 0x0b		# structure: specification, size
	abbreviation 10, 0x39, 1, 0x01, 0x13			# namespace: sibling
	.byte 0

	.section .debug_info, "", @progbits
.Linfo:
	.long .Lend - .Lversion
.Lversion:
	.value 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.value 4						# C++: types have scopes
	.macro entry name, type
	.uleb128 2
	.asciz "\name"
	.long \type - .Linfo
	.byte 9, 3
	.quad \name
	.endm
	entry of_typedefs, .Ltypedef1
	entry of_structure, .Lstructure
	entry of_array, .Larray
	entry of_base, .Lbase
	entry of_specification, .Lspecification1
	entry of_type_behind_sibling, .Llast
.Ltypedef1:
	.uleb128 3
	.asciz "first"
	.long .Ltypedef2 - .Linfo
.Ltypedef2:
	.uleb128 3
	.asciz "second"
	.long .Ltypedef1 - .Linfo
.Lstructure:
	.uleb128 4
	.asciz "structure"
	.byte 64
	.uleb128 5
	.asciz "self"
	.long .Lstructure - .Linfo
	.byte 0
	.byte 0
.Larray:
	.uleb128 6
	.long .Larray - .Linfo
	.uleb128 7
	.byte 2
	.byte 0
.Lbase:
	.uleb128 4
	.asciz "base"
	.byte 1
	.uleb128 8
	.long .Lbase - .Linfo
	.byte 0
	.byte 0
.Lspecification1:
	.uleb128 9
	.long .Lspecification2 - .Linfo
	.byte 64
	.byte 0
.Lspecification2:
	.uleb128 9
	.long .Lspecification1 - .Linfo
	.byte 64
	.byte 0
.Lnamespace:
	.uleb128 10
	.long .Lnamespace - .Linfo
	.byte 0
.Llast:
	.uleb128 4
	.asciz "last"
	.byte 64
	.byte 0
	.byte 0
.Lend:
