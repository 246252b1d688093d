/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_jvm.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/given.h"
#include "symbol/java/jvm_methods.h"
#include "symbol/object/object.h"
#include "symbol/worker/worker_message.h"

enum { MACHINES_MAX = 64 };

/* Reading how a machine is laid out takes milliseconds: if it failed, it is tried again after that time. */
static const uint64_t try_again_ns = 100000000;

struct machine {
	uint64_t start;              /* of the mapping of its library */
	struct jvm_methods *methods; /* NULL: it could not be read */
	uint64_t read_ns;
};

struct worker_jvm {
	int opener;
	struct table *machines; /* by process + 1; owns them */
};

struct process {
	int opener;
	uint32_t pid;
};

struct worker_jvm *worker_jvm_new(int opener)
{
	struct worker_jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->opener = opener;
	jvm->machines = table_new();
	return jvm;
}

static bool read_process(void *data, struct memory_piece *pieces, size_t count, void *bytes)
{
	const struct process *process = data;

	return !given_pieces(process->opener, process->pid, pieces, count, bytes);
}

static void machine_free(struct machine *machine)
{
	jvm_methods_free(machine->methods);
	free(machine);
}

static void forget_all(struct worker_jvm *jvm)
{
	struct machine *machine;
	size_t cursor = 0;

	while ((machine = table_next(jvm->machines, &cursor)))
		machine_free(machine);
	table_free(jvm->machines);
	jvm->machines = table_new();
}

static void read_machine(const struct question *question, struct object *object, const struct jvm_memory *memory,
			 struct jvm_layout *layout, struct jvm_answer *answer)
{
	const struct object_mapping mapping = { question->address, question->mapping_offset };

	object_read_jvm(object, &mapping, memory, layout, answer);
}

void worker_jvm_answer(struct worker_jvm *jvm, const struct question *question, struct object *object,
		       struct jvm_answer *answer)
{
	struct process process = { jvm->opener, question->pid };
	const struct jvm_memory memory = { read_process, &process };
	struct jvm_layout layout;

	read_machine(question, object, &memory, &layout, answer);
}

static struct machine *find_machine(struct worker_jvm *jvm, const struct question *question, struct object *object,
				    const struct jvm_memory *memory)
{
	struct machine *machine = table_find(jvm->machines, (uint64_t)question->pid + 1);
	uint64_t now_ns = clock_ns();
	struct jvm_answer answer;
	struct jvm_layout layout;

	/* Another program may run in the process since. */
	if (machine && machine->start == question->address &&
	    (machine->methods || now_ns < machine->read_ns + try_again_ns))
		return machine;
	if (machine)
		machine_free(table_take(jvm->machines, (uint64_t)question->pid + 1));
	if (table_count(jvm->machines) >= MACHINES_MAX)
		forget_all(jvm);
	machine = xcalloc(1, sizeof(*machine));
	machine->start = question->address;
	machine->read_ns = now_ns;
	table_put(jvm->machines, (uint64_t)question->pid + 1, machine);
	read_machine(question, object, memory, &layout, &answer);
	if (answer.result == JVM_READ)
		machine->methods = jvm_methods_new(&layout, &answer.process);
	return machine;
}

void worker_jvm_methods(struct worker_jvm *jvm, const struct question *question, struct object *object,
			struct answer *answer)
{
	struct process process = { jvm->opener, question->pid };
	const struct jvm_memory memory = { read_process, &process };
	struct machine *machine = find_machine(jvm, question, object, &memory);

	memset(answer, 0, offsetof(struct answer, text));
	if (machine->methods && question->is_interpreted)
		jvm_methods_of_interpreter(machine->methods, &memory, question->generated_code, answer);
	else if (machine->methods)
		jvm_methods_find(machine->methods, &memory, question->generated_code, answer);
	if (!answer->text_bytes)
		answer->text[answer->text_bytes++] = '\0';
}
