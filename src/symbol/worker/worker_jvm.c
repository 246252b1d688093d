/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_jvm.h"

#include "helper/given.h"
#include "symbol/java/jvm_read.h"
#include "symbol/object/object.h"
#include "symbol/worker/worker_message.h"

struct process {
	int opener;
	uint32_t pid;
};

static bool read_process(void *data, struct memory_piece *pieces, size_t count, void *bytes)
{
	const struct process *process = data;

	return !given_pieces(process->opener, process->pid, pieces, count, bytes);
}

void worker_jvm_answer(int opener, const struct question *question, struct object *object, struct jvm_answer *answer)
{
	struct process process = { opener, question->pid };
	const struct jvm_memory memory = { read_process, &process };
	const struct object_mapping mapping = { question->address, question->mapping_offset };

	object_read_jvm(object, &mapping, &memory, answer);
}
