/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for a thread from its beginning: who asked its parent, or the user who started the command. */
#include "account/criticality_internal.h"

void criticality_inherit_request(struct criticality *self, struct thread_row *row)
{
	const struct thread_row *parent = thread_rows_find(self->rows, row->thread->parent);

	if (parent)
		open_request_inherit(&row->wait.request, &parent->wait.request);
}

void criticality_note_run(struct criticality *self, const struct ev_collect_run *e)
{
	if (e->pid_count == 1)
		self->command_pid = e->pids[0];
}

void criticality_note_command(const struct criticality *self, struct thread_row *row)
{
	const struct thread *thread = row->thread;

	if (!self->is_in_sync && thread->tid == thread->pid && thread->pid == self->command_pid)
		row->wait.is_awaited = true;
}
