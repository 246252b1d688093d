/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_message.h"

/* It has read hostile files, and a book comes from a trace: answers are input. */
bool worker_content_is_valid(enum question_kind kind, const union worker_content *content, size_t size_bytes)
{
	switch (kind) {
	case QUESTION_PLACE:
	case QUESTION_MISSING:
	case QUESTION_METHODS:
		return answer_is_valid(&content->place, size_bytes);
	case QUESTION_VARIABLE:
		return variable_answer_is_valid(&content->variable, size_bytes);
	case QUESTION_SEGMENTS:
		return segments_answer_is_valid(&content->segments, size_bytes);
	case QUESTION_CODE:
		return code_answer_is_valid(&content->code, size_bytes);
	case QUESTION_FUNCTION:
		return function_answer_is_valid(&content->function, size_bytes);
	case QUESTION_FUNCTIONS:
		return symbol_functions_are_valid(&content->functions, size_bytes);
	case QUESTION_SOURCES:
		return sources_answer_is_valid(&content->sources, size_bytes);
	case QUESTION_BUILD_ID:
		return size_bytes == sizeof(content->build_id) && content->build_id.size_bytes <= BUILD_ID_BYTES_MAX;
	case QUESTION_JIT:
	case QUESTION_JIT_READ:
	case QUESTION_JIT_FORGET:
		return jit_answer_is_valid(&content->jit, size_bytes);
	case QUESTION_PYTHON:
	case QUESTION_RUBY:
	case QUESTION_JAVASCRIPT:
		return managed_answer_is_valid(&content->managed, size_bytes);
	case QUESTION_GOROUTINES:
		return go_answer_is_valid(&content->go, size_bytes);
	case QUESTION_JVM:
		return jvm_answer_is_valid(&content->jvm, size_bytes);
	case QUESTION_USDT:
		return symbol_usdt_is_valid(&content->usdt, size_bytes);
	case QUESTION_TABLE:
		return !size_bytes;
	}
	return false;
}
