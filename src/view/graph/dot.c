/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/graph/dot.h"

#include "base/text.h"

void dot_begin(struct text *out)
{
	text_put(out, "digraph pinch {\n\trankdir=LR;\n\tnode [fontname=\"sans-serif\"];\n"
		      "\tedge [fontname=\"sans-serif\" fontsize=10];\n");
}

void dot_put_quoted(struct text *out, const char *string)
{
	struct text escaped = { 0 };

	text_put_escaped(&escaped, string);
	text_put(out, "\"");
	for (const char *at = escaped.bytes ? escaped.bytes : ""; *at; at++) {
		if (*at == '"' || *at == '\\')
			text_put(out, "\\");
		text_put_bytes(out, at, 1);
	}
	text_put(out, "\"");
	text_fini(&escaped);
}

const char *dot_shape(enum graph_kind kind)
{
	switch (kind) {
	case GRAPH_THREAD:
	case GRAPH_OTHER:
		return "box";
	case GRAPH_WAIT:
		return "ellipse";
	default:
		return "diamond";
	}
}
