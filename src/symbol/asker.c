/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/asker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/answer/answer.h"
#include "symbol/names/notes.h"
#include "symbol/space/module.h"
#include "symbol/worker/worker.h"

struct asker {
	struct worker *worker;
	struct notes *notes;
	bool has_noted_worker;
};

struct asker *asker_new(struct worker *worker, struct notes *notes)
{
	struct asker *asker = xcalloc(1, sizeof(*asker));

	asker->worker = worker;
	asker->notes = notes;
	return asker;
}

void asker_free(struct asker *asker)
{
	free(asker);
}

static void note_error(struct asker *asker, struct module *module, int err)
{
	if (err == -ECANCELED) {
		if (!asker->has_noted_worker)
			notes_add(asker->notes, "the helper process that reads symbols cannot be started again: "
						"functions are shown as offsets");
		asker->has_noted_worker = true;
		return;
	}
	notes_add(asker->notes, "cannot read %s: %s", module->path, strerror(-err));
	module->failure_count = MODULE_FAILURES_MAX;
	module->noted_flags = ~0u;
}

void asker_learn(struct asker *asker, struct module *module, uint32_t flags)
{
	module->flags |= flags & ~(uint32_t)ANSWER_BY_SYMBOLS;
	notes_add_module(asker->notes, module);
}

int asker_ask(struct asker *asker, struct module *module, bool wants_debug, asker_question question, void *data)
{
	uint32_t flags = 0;
	int err = -ENOENT;

	while (!module_has_failed(module)) {
		bool has_debug = wants_debug && !module->failure_count;

		err = question(data, asker->worker, module, has_debug, &flags);
		if (err != -ECHILD && err != -EDQUOT)
			break;
		module->is_over_budget = err == -EDQUOT;
		module->failure_count = has_debug ? 1 : MODULE_FAILURES_MAX;
	}
	/* A trace that does not say may be of another machine. */
	if (err && err != -ENODATA && !module_has_failed(module))
		note_error(asker, module, err);
	asker_learn(asker, module, err ? 0 : flags);
	return err;
}

void asker_ask_ahead(struct asker *asker, struct worker_question *questions, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct worker_question question = questions[i];

		if (module_has_failed(question.module))
			continue;
		if (question.module->failure_count)
			question.wants_lines = false;
		questions[kept++] = question;
	}
	worker_ask_ahead(asker->worker, questions, kept);
}
