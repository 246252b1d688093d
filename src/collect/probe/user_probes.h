/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of functions of programs, in whatever process maps the file: of resolvers, of spans, and of USDT probes. A probe
 * takes the place of a byte of code: the file must be the very one in which its place was looked up, and
 * still be as it was then. What is attached goes when that ends.
 *
 * Owns: programs that are attached on demand, and what they are attached to.
 * Used by: collect, options, engine, live.
 */
#pragma once

#include <stdint.h>

struct file_stamp;
struct function_place;
struct pinch_bpf;
struct probed_file;
struct usdt_place;
struct user_probes;

/* Borrows bpf, which is loaded. */
struct user_probes *user_probes_new(struct pinch_bpf *bpf);

/* Attached ones are detached. probes: may be NULL. */
void user_probes_free(struct user_probes *probes);
void user_probes_detach(struct user_probes *probes);

/*
 * A file to put probes into: what fd leads to, which is duplicated. stamp: from before its places were looked
 * up. *changed_count is counted up when it must be left alone; borrowed. Valid as long as probes. 0, -E2BIG,
 * or -ESTALE when it has changed already, which is counted, too.
 */
int user_probes_open(struct user_probes *probes, int fd, const struct file_stamp *stamp, uint64_t *changed_count,
		     struct probed_file **file);

/* Calls of getaddrinfo(), which is at this place of the file. 0 or a negative errno, in silence. */
int user_probes_add_resolver(struct probed_file *file, uint64_t file_offset);

/* Where tasks of this span begin or end. 0 or a negative errno, in silence. */
int user_probes_add_function(struct probed_file *file, const struct function_place *place, uint32_t span);

/* A site of a USDT probe, with these for usdt_attach(). 0 or a negative errno, in silence. */
int user_probes_add_usdt(struct probed_file *file, const struct usdt_place *place, uint64_t schema, uint32_t number);

/* When all are attached: 0, or -ESTALE when the file has changed meanwhile, and none is any more. */
int user_probes_confirm(struct probed_file *file);

/* Looks at some of the files by turns, and detaches from those whose contents have changed. Costs a few us. */
void user_probes_check(struct user_probes *probes);
