/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/show_graph.h"

#include <stdint.h>
#include <unistd.h>

#include "base/text.h"
#include "graph/graph.h"
#include "options/settings.h"
#include "show/show_files.h"
#include "view/graph/graph_svg.h"
#include "view/graph/graph_text.h"
#include "view/html/html.h"
#include "view/output.h"
#include "view/view.h"

static int write_json(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	struct text out = { 0 };
	int err;

	graph_put_json(&out, graph, labels, SIZE_MAX);
	err = output_write(settings->json_path, &out);
	text_fini(&out);
	return err;
}

static int write_html(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	struct html *html = html_new();
	int err;

	graph_put_json(html_part(html, "graph"), graph, labels, HTML_GRAPH_NODES_MAX);
	err = show_html(settings, html);
	html_free(html);
	return err;
}

static int write_pictures(const struct settings *settings, const struct graph *graph, struct graph_labels *labels)
{
	const struct graph_settings *options = &settings->graph;
	struct text dot = { 0 }, svg = { 0 };
	int err = 0;

	if (!options->dot_path && !options->svg_path)
		return 0;
	graph_put_dot(&dot, graph, labels, options->share_min);
	if (options->dot_path)
		err = output_write(options->dot_path, &dot);
	if (!err && options->svg_path) {
		err = graph_dot_to_svg(dot.bytes, &svg);
		if (!err)
			err = output_write(options->svg_path, &svg);
	}
	text_fini(&dot);
	text_fini(&svg);
	return err;
}

static int write_text(const struct settings *settings, const struct graph *graph, struct graph_labels *labels,
		      const char *words)
{
	bool has_unicode = settings->text_path || view_style_for(STDOUT_FILENO).has_unicode;
	struct text out = { 0 };
	int err;

	if (words)
		text_put(&out, words);
	graph_put_text(&out, graph, labels, settings->graph.share_min, has_unicode);
	err = output_write(settings->text_path ? settings->text_path : "-", &out);
	text_fini(&out);
	return err;
}

int show_graph(const struct settings *settings, const struct graph *graph, struct graph_labels *labels,
	       const char *words)
{
	const struct graph_settings *options = &settings->graph;
	bool has_other = settings->json_path || options->dot_path || options->svg_path || settings->html_path;
	int err = 0;

	if (settings->json_path)
		err = write_json(settings, graph, labels);
	if (!err && settings->html_path)
		err = write_html(settings, graph, labels);
	if (!err)
		err = write_pictures(settings, graph, labels);
	if (!err && (settings->text_path || !has_other))
		err = write_text(settings, graph, labels, words);
	return err;
}
