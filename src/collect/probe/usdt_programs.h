/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel side of USDT probes. */
#pragma once

#include <stdint.h>

struct bpf_link;
struct pinch_bpf;
struct usdt_place;
struct usdt_specs;

enum { USDT_SITES_MAX = 4096 }; /* of all files */

/* Before loading: the program is left out when no probe is wanted. specs NULL: none is. */
void usdt_choose(struct pinch_bpf *bpf, const struct usdt_specs *specs);

/*
 * Attaches to a site, as number below USDT_SITES_MAX, which no other one has had; events have the schema. NULL and errno when that
 * cannot be.
 */
struct bpf_link *usdt_attach(struct pinch_bpf *bpf, const char *path, const struct usdt_place *place, uint64_t schema,
			     uint32_t number);
