/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graphviz is loaded when it is wanted: few want it, and it brings much with it. Its functions are
 * declared here as its header does (graphviz/gvc.h, cgraph.h), so that nobody needs that to build.
 */
#include "view/graph/graph_svg.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/text.h"

struct graphviz {
	void *gvc, *cgraph; /* libraries */
	void *(*context)(void);
	int (*layout)(void *context, void *graph, const char *engine);
	int (*render)(void *context, void *graph, const char *format, char **result, unsigned int *length);
	void (*free_result)(char *result);
	int (*free_layout)(void *context, void *graph);
	int (*free_context)(void *context);
	void *(*read)(const char *string);
	int (*close)(void *graph);
};

static bool load(struct graphviz *g)
{
	g->cgraph = dlopen("libcgraph.so.6", RTLD_NOW);
	g->gvc = dlopen("libgvc.so.6", RTLD_NOW);
	if (!g->cgraph || !g->gvc)
		return false;
	*(void **)&g->context = dlsym(g->gvc, "gvContext");
	*(void **)&g->layout = dlsym(g->gvc, "gvLayout");
	*(void **)&g->render = dlsym(g->gvc, "gvRenderData");
	*(void **)&g->free_result = dlsym(g->gvc, "gvFreeRenderData");
	*(void **)&g->free_layout = dlsym(g->gvc, "gvFreeLayout");
	*(void **)&g->free_context = dlsym(g->gvc, "gvFreeContext");
	*(void **)&g->read = dlsym(g->cgraph, "agmemread");
	*(void **)&g->close = dlsym(g->cgraph, "agclose");
	return g->context && g->layout && g->render && g->free_result && g->free_layout && g->free_context && g->read &&
	       g->close;
}

static int draw(const struct graphviz *g, const char *dot, struct text *out)
{
	void *context = g->context(), *graph = g->read(dot);
	unsigned int length = 0;
	char *svg = NULL;
	int err = -EINVAL;

	if (context && graph && !g->layout(context, graph, "dot")) {
		if (!g->render(context, graph, "svg", &svg, &length) && svg) {
			text_put_bytes(out, svg, length);
			g->free_result(svg);
			err = 0;
		}
		g->free_layout(context, graph);
	}
	if (graph)
		g->close(graph);
	if (context)
		g->free_context(context);
	return err ? fail_plain(err, "Graphviz could not draw the graph") : 0;
}

int graph_dot_to_svg(const char *dot, struct text *out)
{
	struct graphviz g = { 0 };
	int err;

	if (load(&g))
		err = draw(&g, dot, out);
	else
		err = fail_plain(-ENOENT, "Graphviz's libraries are not installed: install libgvc6, or use --dot");
	/* Its plug-ins do not like to be unloaded. */
	return err;
}
