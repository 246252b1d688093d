/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/usdt_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "collect/probe/usdt_spec.h"
#include "symbol/symbol.h"
#include "shared.h"
#include "pinch.skel.h"

void usdt_choose(struct pinch_bpf *bpf, const struct usdt_specs *specs)
{
	bool is_wanted = specs && specs->count;

	bpf_program__set_autoload(bpf->progs.usdt_hit, is_wanted);
	bpf_program__set_autoattach(bpf->progs.usdt_hit, false);
	if (is_wanted)
		bpf_map__set_max_entries(bpf->maps.usdt_sites, USDT_SITES_MAX);
}

struct bpf_link *usdt_attach(struct pinch_bpf *bpf, const char *path, const struct usdt_place *place, uint64_t schema,
			     uint32_t number)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = number, .ref_ctr_offset = place->semaphore_offset);
	struct usdt_site site = { .schema = schema, .argument_count = place->argument_count };

	memcpy(site.arguments, place->arguments, sizeof(site.arguments));
	if (bpf_map_update_elem(bpf_map__fd(bpf->maps.usdt_sites), &number, &site, BPF_ANY))
		return NULL;
	return bpf_program__attach_uprobe_opts(bpf->progs.usdt_hit, -1, path, place->file_offset, &options);
}
