/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites of USDT probes in an ELF file of 64 bits: the notes of its section .note.stapsdt, as sdt.h of SystemTap makes them. */
#pragma once

#include <gelf.h>
#include <stdint.h>

#include "base/byte_cursor.h"

struct usdt_note {
	uint64_t address;   /* of the site, as the file has it */
	uint64_t semaphore; /* of the counter of those who trace it; 0: none */
	const char *provider, *name;
	const char *arguments; /* usdt_argument.h */
};

/*
 * Calls on_note for each in the section's bytes. base_address: where the file has .stapsdt.base, which says how far it was moved after
 * linking; 0: it has none.
 */
void usdt_notes_read(struct byte_cursor notes, uint64_t base_address,
		     void (*on_note)(void *data, const struct usdt_note *note), void *data);

/* The same of a file; the strings are borrowed from the file. What is no such note is left out. */
void usdt_notes_each(Elf *elf, void (*on_note)(void *data, const struct usdt_note *note), void *data);
