/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_go.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/given.h"
#include "symbol/go/go_read.h"
#include "symbol/object/object.h"
#include "symbol/worker/worker_message.h"

enum { LAYOUTS_MAX = 256 };

struct worker_go {
	int opener;
	struct table *layouts; /* by the file's number + 1; owns them */
};

struct process {
	int opener;
	uint32_t pid;
};

struct worker_go *worker_go_new(int opener)
{
	struct worker_go *go = xcalloc(1, sizeof(*go));

	go->opener = opener;
	go->layouts = table_new();
	return go;
}

static bool read_process(void *data, struct memory_piece *pieces, size_t count, void *bytes)
{
	const struct process *process = data;

	return !given_pieces(process->opener, process->pid, pieces, count, bytes);
}

/* NULL: there are too many. */
static const struct go_layout *layout_of(struct worker_go *go, uint32_t module, struct object *object)
{
	struct go_layout *layout = table_find(go->layouts, (uint64_t)module + 1);

	if (layout || table_count(go->layouts) >= LAYOUTS_MAX)
		return layout;
	layout = xcalloc(1, sizeof(*layout));
	object_go_layout(object, layout);
	table_put(go->layouts, (uint64_t)module + 1, layout);
	return layout;
}

size_t worker_go_answer(struct worker_go *go, const struct question *question, struct object *object,
			struct go_answer *answer)
{
	struct process process = { go->opener, question->pid };
	const struct go_memory memory = { read_process, &process };
	const struct object_mapping mapping = { question->address, question->mapping_offset };
	struct go_question asked = {
		.memory = &memory,
		.layout = layout_of(go, question->module, object),
		.random = question->random,
	};
	uint64_t begin_ns = clock_cpu_ns();

	memset(answer, 0, sizeof(*answer));
	answer->result = asked.layout ? asked.layout->result : GO_UNREADABLE;
	if (answer->result == GO_READ && !object_read_goroutines(object, &mapping, &asked, answer))
		answer->result = GO_UNREADABLE;
	/* The opener takes about as much. */
	answer->cost_ns = 2 * (clock_cpu_ns() - begin_ns);
	return offsetof(struct go_answer, rows) + answer->row_count * sizeof(*answer->rows);
}
