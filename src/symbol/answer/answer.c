/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/answer/answer.h"

#include <stddef.h>
#include <string.h>

#include "symbol/elf/usdt_argument.h"

bool answer_is_valid(const struct answer *answer, size_t size_bytes)
{
	if (size_bytes <= offsetof(struct answer, text) || answer->text_bytes > ANSWER_TEXT_BYTES ||
	    answer->text_bytes != size_bytes - offsetof(struct answer, text) || answer->text[answer->text_bytes - 1] ||
	    answer->frame_count > SYMBOL_INLINE_MAX)
		return false;
	for (uint32_t i = 0; i < answer->frame_count; i++)
		if (answer->frames[i].function >= answer->text_bytes || answer->frames[i].file >= answer->text_bytes)
			return false;
	return true;
}

bool variable_answer_is_valid(const struct variable_answer *answer, size_t size_bytes)
{
	return size_bytes > offsetof(struct variable_answer, text) && answer->text_bytes <= VARIABLE_TEXT_BYTES &&
	       answer->text_bytes == size_bytes - offsetof(struct variable_answer, text) &&
	       !answer->text[answer->text_bytes - 1] && answer->name < answer->text_bytes &&
	       answer->type < answer->text_bytes;
}

bool segments_answer_is_valid(const struct segments_answer *answer, size_t size_bytes)
{
	return size_bytes == sizeof(*answer) && answer->count <= SEGMENTS_MAX;
}

bool code_answer_is_valid(const struct code_answer *answer, size_t size_bytes)
{
	return size_bytes >= offsetof(struct code_answer, code) && answer->size_bytes <= CODE_BYTES_MAX &&
	       answer->size_bytes == size_bytes - offsetof(struct code_answer, code);
}

bool symbol_functions_are_valid(const struct symbol_functions *answer, size_t size_bytes)
{
	if (size_bytes != sizeof(*answer) || answer->place_count > FUNCTION_PLACES_MAX_FILE)
		return false;
	for (uint32_t i = 0; i < answer->place_count; i++)
		if (answer->places[i].kind > FUNCTION_JUMPS)
			return false;
	return true;
}

static bool usdt_place_is_valid(const struct usdt_place *place)
{
	if (place->file_offset > INT64_MAX || place->semaphore_offset > INT64_MAX ||
	    place->argument_count > USDT_ARGUMENTS_MAX || !usdt_name_is_valid(place->provider, USDT_NAME_BYTES) ||
	    !usdt_name_is_valid(place->name, USDT_NAME_BYTES))
		return false;
	for (uint32_t i = 0; i < place->argument_count; i++)
		if (!usdt_argument_is_valid(&place->arguments[i]))
			return false;
	return true;
}

bool symbol_usdt_is_valid(const struct symbol_usdt *answer, size_t size_bytes)
{
	if (size_bytes != sizeof(*answer) || answer->count > USDT_PLACES_MAX_ANSWER || answer->has_more > 1)
		return false;
	for (uint32_t i = 0; i < answer->count; i++)
		if (!usdt_place_is_valid(&answer->places[i]))
			return false;
	return true;
}

bool function_answer_is_valid(const struct function_answer *answer, size_t size_bytes)
{
	return size_bytes == sizeof(*answer) && answer->is_found <= 1;
}

bool sources_answer_is_valid(const struct sources_answer *answer, size_t size_bytes)
{
	return size_bytes == sizeof(*answer) && answer->count && answer->count <= SOURCES_MAX;
}

bool jit_answer_is_valid(const struct jit_answer *answer, size_t size_bytes)
{
	return size_bytes == sizeof(*answer) && memchr(answer->name, '\0', sizeof(answer->name));
}

bool managed_answer_is_valid(const struct managed_answer *answer, size_t size_bytes)
{
	size_t head = offsetof(struct managed_answer, data);

	if (size_bytes < head || answer->kind > MANAGED_IS_NEW)
		return false;
	if (answer->kind != MANAGED_IS_NEW)
		return true;
	return answer->function_bytes && answer->function_bytes <= MANAGED_NAME_BYTES && answer->file_bytes &&
	       answer->file_bytes <= MANAGED_PATH_BYTES && answer->table_bytes <= MANAGED_TABLE_BYTES &&
	       size_bytes == head + answer->function_bytes + answer->file_bytes + answer->table_bytes &&
	       !answer->data[answer->function_bytes - 1] &&
	       !answer->data[answer->function_bytes + answer->file_bytes - 1];
}

bool go_answer_is_valid(const struct go_answer *answer, size_t size_bytes)
{
	size_t head = offsetof(struct go_answer, rows);
	uint64_t waiting = 0;

	if (size_bytes < head || answer->row_count > GO_ROWS_MAX ||
	    size_bytes != head + answer->row_count * sizeof(*answer->rows) || answer->examined > GO_EXAMINED_MAX ||
	    answer->examined > answer->listed ||
	    (uint64_t)answer->runnable + answer->running + answer->in_syscall + answer->waiting > answer->examined)
		return false;
	for (uint32_t i = 0; i < answer->row_count; i++) {
		const struct go_row *row = &answer->rows[i];

		if (row->frame_count > GO_FRAMES_MAX || row->reason[GO_REASON_BYTES - 1])
			return false;
		waiting += row->count;
	}
	return waiting <= answer->waiting;
}

bool jvm_answer_is_valid(const struct jvm_answer *answer, size_t size_bytes)
{
	const struct jvm_process *process = &answer->process;

	if (size_bytes != sizeof(*answer) || answer->result > JVM_UNREADABLE)
		return false;
	if (answer->result != JVM_READ)
		return !process->bytes;
	if (!process->bytes || process->heap_count > JVM_HEAPS_MAX || process->segment_bits >= 32)
		return false;
	for (uint32_t i = 0; i < JVM_HEAPS_MAX; i++)
		if (process->heaps[i].end < process->heaps[i].begin)
			return false;
	return process->complete_bytes == sizeof(int16_t) || process->complete_bytes == sizeof(int32_t);
}
