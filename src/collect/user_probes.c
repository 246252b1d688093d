/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collect/spans.h"
#include "shared.h"
#include "pinch.skel.h"

enum {
	RESOLVERS_MAX = 256,		/* C libraries of containers */
	FUNCTION_PLACES_MAX = 16384,	/* of spans, in all files */
};

struct links {
	struct bpf_link **list;
	size_t count, room;
};

struct user_probes {
	struct pinch_bpf *bpf;
	struct links resolvers;		/* two each */
	struct links functions;
};

struct user_probes *user_probes_new(struct pinch_bpf *bpf)
{
	struct user_probes *probes = xcalloc(1, sizeof(*probes));

	probes->bpf = bpf;
	return probes;
}

static void links_add(struct links *links, struct bpf_link *link)
{
	if (links->count == links->room) {
		links->room = 2 * links->room + 16;
		links->list = xrealloc(links->list, links->room, sizeof(*links->list));
	}
	links->list[links->count++] = link;
}

static void links_detach(struct links *links)
{
	while (links->count)
		bpf_link__destroy(links->list[--links->count]);
}

void user_probes_detach(struct user_probes *probes)
{
	if (!probes)
		return;
	links_detach(&probes->resolvers);
	links_detach(&probes->functions);
}

void user_probes_free(struct user_probes *probes)
{
	if (!probes)
		return;
	user_probes_detach(probes);
	free(probes->resolvers.list);
	free(probes->functions.list);
	free(probes);
}

int user_probes_add_resolver(struct user_probes *probes, const char *path, uint64_t file_offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, at_return, .retprobe = true);
	struct bpf_link *begin, *end;
	int err;

	if (probes->resolvers.count == 2 * RESOLVERS_MAX)
		return -E2BIG;
	begin = bpf_program__attach_uprobe_opts(probes->bpf->progs.resolve_begin, -1, path, file_offset, NULL);
	if (!begin)
		return -errno;
	end = bpf_program__attach_uprobe_opts(probes->bpf->progs.resolve_end, -1, path, file_offset, &at_return);
	if (!end) {
		err = -errno;
		bpf_link__destroy(begin);
		return err;
	}
	links_add(&probes->resolvers, begin);
	links_add(&probes->resolvers, end);
	return 0;
}

int user_probes_add_function(struct user_probes *probes, const char *path,
			     const struct function_place *place, uint32_t span)
{
	struct bpf_link *link;

	if (probes->functions.count == FUNCTION_PLACES_MAX)
		return -E2BIG;
	link = spans_attach_function(probes->bpf, path, place, span);
	if (!link)
		return -errno;
	links_add(&probes->functions, link);
	return 0;
}
