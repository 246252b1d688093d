/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of Pleco by recursive descent, and the checks on names and sizes. */
#include "parser.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "lexer.h"
#include "names.h"
#include "source.h"

/* One source on its way into the schema. */
struct parse {
	struct parser *parser;
	const struct source *source;
	struct lexer lexer;
};

#define parse_error(parse, offset, ...) source_error((parse)->source, offset, (parse)->parser->messages, __VA_ARGS__)

static const char *token_text(const struct parse *parse)
{
	return parse->source->text.data + parse->lexer.token.offset;
}

static int expected(struct parse *parse, const char *what)
{
	struct buffer found = { 0 };
	int err;

	lexer_describe(&parse->lexer, &found);
	err = parse_error(parse, parse->lexer.token.offset, "expected %s but found %s", what, found.data);
	buffer_fini(&found);
	return err;
}

/* Moves over this word or punctuation, which a message calls what. */
static int expect(struct parse *parse, const char *text, const char *what)
{
	if (!lexer_is_at(&parse->lexer, text))
		return expected(parse, what);
	return lexer_advance(&parse->lexer);
}

/* Like expect(), for what may be missing. */
static int skip_optional(struct parse *parse, const char *text)
{
	return lexer_is_at(&parse->lexer, text) ? lexer_advance(&parse->lexer) : 0;
}

/* Reads the name of what kind says: "a subsystem", "an event" or "a field". */
static int parse_name(struct parse *parse, const char *kind, struct declaration *out)
{
	const struct token *token = &parse->lexer.token;
	const char *text = token_text(parse);
	struct buffer shown = { 0 };
	int err = 0;

	if (token->kind != TOKEN_WORD) {
		buffer_printf(&shown, "the name of %s", kind);
		err = expected(parse, shown.data);
		goto out_free;
	}
	lexer_describe(&parse->lexer, &shown);
	if (!name_is_identifier(text, token->size))
		err = parse_error(parse, token->offset,
				  "%s is no C identifier: use letters, "
				  "digits and '_', a digit not first",
				  shown.data);
	else if (name_is_keyword(text, token->size))
		err = parse_error(parse, token->offset, "%s is a keyword of C and cannot name %s", shown.data, kind);
	else if (token->size > NAME_SIZE_MAX)
		err = parse_error(parse, token->offset, "a name of %zu characters: the limit is %d", token->size,
				  NAME_SIZE_MAX);
	if (err)
		goto out_free;
	*out = (struct declaration){
		.name = xstrndup(text, token->size),
		.source = parse->source,
		.offset = token->offset,
	};
	err = lexer_advance(&parse->lexer);
	if (err)
		free(out->name); /* no schema owns it yet */

out_free:
	buffer_fini(&shown);
	return err;
}

static int duplicate_error(struct parse *parse, const char *kind, const struct declaration *declaration,
			   const struct declaration *first)
{
	size_t line, column;

	source_locate(first->source, first->offset, &line, &column);
	return parse_error(parse, declaration->offset, "duplicate %s '%s': the first, '%s', is at %s:%zu:%zu", kind,
			   declaration->name, first->name, first->source->path, line, column);
}

static int collision_error(struct parse *parse, const struct name_entry *entry, const struct name_entry *first)
{
	size_t line, column;

	source_locate(first->declaration.source, first->declaration.offset, &line, &column);
	return parse_error(parse, entry->declaration.offset,
			   "event '%s' of '%s' would have the macro TRACE_EVENT_%s, "
			   "as has event '%s' of '%s' at %s:%zu:%zu",
			   entry->declaration.name, entry->scope, entry->key, first->declaration.name, first->scope,
			   first->declaration.source->path, line, column);
}

static bool is_at_name(const struct parse *parse)
{
	const char *text = token_text(parse);

	return parse->lexer.token.kind == TOKEN_WORD && name_is_identifier(text, 1);
}

/* Moves over the name of an earlier field that can tell a number, whose number in the event is returned. */
static int parse_number_field(struct parse *parse, const struct event *event, size_t *number)
{
	const struct token *token = &parse->lexer.token;
	const char *text = token_text(parse);
	size_t i, last = event->field_count - 1; /* the field that is being read */

	for (i = 0; i < last; i++) {
		const struct field *field = &event->fields[i];

		if (strlen(field->declaration.name) == token->size &&
		    !memcmp(field->declaration.name, text, token->size))
			break;
	}
	if (i == last)
		return parse_error(parse, token->offset, "no field before '%s' has this name",
				   event->fields[last].declaration.name);
	if (event->fields[i].count || event->fields[i].is_flexible || event->fields[i].type->name[0] != 'u')
		return parse_error(parse, token->offset, "a length is an unsigned number, which '%s' is not",
				   event->fields[i].declaration.name);
	*number = i;
	return lexer_advance(&parse->lexer);
}

/* A sum of fields. */
static int parse_length(struct parse *parse, const struct event *event, struct field *field)
{
	int err;

	field->is_flexible = true;
	for (;;) {
		if (field->length_field_count == LENGTH_FIELDS_MAX)
			return parse_error(parse, parse->lexer.token.offset, "a length is a sum of at most %d fields",
					   LENGTH_FIELDS_MAX);
		err = parse_number_field(parse, event, &field->length_fields[field->length_field_count]);
		if (err)
			return err;
		field->length_field_count++;
		if (!lexer_is_at(&parse->lexer, "+"))
			return expect(parse, "]", "'+' or ']'");
		err = lexer_advance(&parse->lexer);
		if (err)
			return err;
	}
}

static int parse_array(struct parse *parse, const struct event *event, struct field *field)
{
	const struct token *token = &parse->lexer.token;
	size_t i, size;
	int err;

	if (!lexer_is_at(&parse->lexer, "["))
		return 0;
	err = lexer_advance(&parse->lexer);
	if (err)
		return err;
	if (lexer_is_at(&parse->lexer, "]")) {
		field->is_flexible = true;
		return lexer_advance(&parse->lexer);
	}
	if (token->kind != TOKEN_WORD)
		return expected(parse, "the length of the array or ']'");
	if (is_at_name(parse))
		return parse_length(parse, event, field);

	/* C reads a leading zero as octal: refusing it leaves no doubt. */
	size = *token_text(parse) == '0' ? 0 : token->size;
	for (i = 0; i < size && field->count <= ARRAY_COUNT_MAX; i++) {
		char c = token_text(parse)[i];

		if (c < '0' || c > '9') {
			field->count = 0;
			break;
		}
		field->count = 10 * field->count + (c - '0');
	}
	if (!field->count || field->count > ARRAY_COUNT_MAX)
		return parse_error(parse, token->offset, "the length of an array is a decimal number from 1 to %d",
				   ARRAY_COUNT_MAX);
	err = lexer_advance(&parse->lexer);
	return err ? err : expect(parse, "]", "']'");
}

/* Places a field behind the others. Padding is never implicit: readers of a trace would see it. */
static int place_field(struct parse *parse, struct event *event, struct field *field)
{
	/* The first flexible array begins where sizeof() of the struct ends, each other one behind the one before. */
	unsigned int alignment = field->is_flexible ? EVENT_ALIGNMENT : field->type->size;
	unsigned int excess = event->size % alignment;
	uint64_t count = field->is_flexible ? 0 : field->count ? field->count : 1;

	if (excess)
		return parse_error(parse, field->declaration.offset,
				   "field '%s' would be at offset %llu, not a multiple of %u: "
				   "put a %u-byte padding field before it",
				   field->declaration.name, (unsigned long long)event->size, alignment,
				   alignment - excess);
	field->offset = event->size;
	event->size += count * field->type->size;
	if (event->size > EVENT_SIZE_MAX)
		return parse_error(parse, field->declaration.offset, "event '%s' is larger than %d bytes",
				   event->declaration.name, EVENT_SIZE_MAX);
	return 0;
}

/* "strings", how many follows. */
static int parse_strings(struct parse *parse, const struct event *event, struct field *field)
{
	const struct token *token = &parse->lexer.token;
	size_t offset = token->offset, number;
	int err = lexer_advance(&parse->lexer);

	if (err)
		return err;
	if (!field->is_flexible || field->type->size != 1)
		return parse_error(parse, offset, "strings are in an array of bytes without a fixed length");
	field->strings = STRINGS_ANY;
	if (token->kind != TOKEN_WORD)
		return 0;
	if (is_at_name(parse)) {
		field->strings = STRINGS_BY_FIELD;
		err = parse_number_field(parse, event, &number);
		field->string_count = number;
		return err;
	}
	field->strings = STRINGS_COUNT;
	field->string_count = *token_text(parse) - '0';
	if (token->size != 1 || field->string_count < 1 || field->string_count > 9)
		return parse_error(parse, token->offset, "how many strings there are is a digit from 1 on, or a field");
	return lexer_advance(&parse->lexer);
}

static int parse_meaning(struct parse *parse, struct field *field)
{
	struct declaration word = { 0 };
	int err = 0;

	if (field->meaning)
		return parse_error(parse, parse->lexer.token.offset, "'%s' has a meaning already: %s",
				   field->declaration.name, field->meaning);
	if (lexer_is_at(&parse->lexer, "names"))
		field->role = ROLE_NAMES;
	else if (lexer_is_at(&parse->lexer, "about"))
		field->role = ROLE_ABOUT;
	if (field->role != ROLE_REFERS)
		err = lexer_advance(&parse->lexer);
	if (!err)
		err = parse_name(parse, "what the field means", &word);
	field->meaning = word.name;
	return err;
}

/* What stands behind a colon. */
static int parse_notes(struct parse *parse, const struct event *event, struct field *field)
{
	int err;

	if (!lexer_is_at(&parse->lexer, ":"))
		return 0;
	do {
		err = lexer_advance(&parse->lexer);
		if (!err)
			err = lexer_is_at(&parse->lexer, "strings") ? parse_strings(parse, event, field)
								    : parse_meaning(parse, field);
	} while (!err && lexer_is_at(&parse->lexer, ","));
	return err;
}

/* Whether nothing but the end of the event ends the array. */
static bool is_open(const struct field *field)
{
	return field->is_flexible && !field->length_field_count &&
	       (field->strings == STRINGS_NONE || field->strings == STRINGS_ANY);
}

/* What may follow an array without a fixed length. */
static int check_order(struct parse *parse, const struct event *event)
{
	const struct field *field = &event->fields[event->field_count - 1];
	const struct field *before = event->field_count > 1 ? field - 1 : NULL;

	if (!before || !before->is_flexible)
		return 0;
	if (is_open(before))
		return parse_error(parse, before->declaration.offset,
				   "flexible array '%s' must be the last field of its event", before->declaration.name);
	if (!field->is_flexible)
		return parse_error(parse, field->declaration.offset,
				   "behind the flexible array '%s' there can only be others", before->declaration.name);
	return 0;
}

static int parse_field(struct parse *parse, struct event *event, struct name_table *names)
{
	const struct token *token = &parse->lexer.token;
	const struct field_type *type;
	struct declaration declaration = { 0 };
	const struct name_entry *first;
	struct field *field;
	int err;

	if (token->kind != TOKEN_WORD)
		return expected(parse, "the type of a field");
	type = field_type_find(token_text(parse), token->size);
	if (!type)
		return expected(parse, "a type (u8 u16 u32 u64 s8 s16 s32 s64 char)");
	err = lexer_advance(&parse->lexer);
	if (!err)
		err = parse_name(parse, "a field", &declaration);
	if (err)
		return err;

	field = event_add_field(event, declaration);
	field->type = type;
	if (name_is_reserved_for_field(declaration.name, strlen(declaration.name)))
		return parse_error(parse, declaration.offset,
				   "'%s' has a meaning in the generated "
				   "header and cannot name a field",
				   declaration.name);
	first = name_table_add(names, &(struct name_entry){ .key = declaration.name, .declaration = declaration });
	if (first)
		return duplicate_error(parse, "field", &declaration, &first->declaration);
	err = parse_array(parse, event, field);
	if (!err)
		err = place_field(parse, event, field);
	if (!err)
		err = parse_notes(parse, event, field);
	if (!err)
		err = check_order(parse, event);
	return err ? err : expect(parse, ";", "';'");
}

static int parse_fields(struct parse *parse, struct event *event)
{
	struct name_table names = { 0 };
	unsigned int excess;
	int err = lexer_advance(&parse->lexer); /* over the brace */

	do {
		err = err ? err : parse_field(parse, event, &names);
	} while (!err && !lexer_is_at(&parse->lexer, "}"));
	name_table_fini(&names);
	if (err)
		return err;

	excess = event->size % EVENT_ALIGNMENT;
	if (excess)
		return parse_error(parse, event->declaration.offset,
				   "event '%s' would be %llu bytes long, not a multiple of %d: "
				   "put a %d-byte padding field at its end",
				   event->declaration.name, (unsigned long long)event->size, EVENT_ALIGNMENT,
				   EVENT_ALIGNMENT - excess);
	parse->parser->schema->has_fields = true;
	return lexer_advance(&parse->lexer);
}

static int add_event(struct parse *parse, struct subsystem *subsystem, struct declaration declaration)
{
	const struct name_entry *first;
	struct name_entry entry = {
		.declaration = declaration,
		.scope = subsystem->declaration.name,
	};
	struct buffer macro = { 0 };
	int err = 0;

	subsystem_add_event(subsystem, declaration);
	buffer_add_upper(&macro, subsystem->declaration.name);
	buffer_add_char(&macro, '_');
	buffer_add_upper(&macro, declaration.name);
	entry.key = macro.data;
	first = name_table_add(&parse->parser->events, &entry);
	if (first && first->scope == entry.scope)
		err = duplicate_error(parse, "event", &declaration, &first->declaration);
	else if (first)
		err = collision_error(parse, &entry, first);
	else if (subsystem->event_count > EVENT_COUNT_MAX)
		err = parse_error(parse, declaration.offset, "more than %d events in subsystem '%s'", EVENT_COUNT_MAX,
				  subsystem->declaration.name);
	buffer_fini(&macro);
	return err;
}

static int parse_event(struct parse *parse, struct subsystem *subsystem)
{
	struct declaration declaration = { 0 };
	const struct buffer *string = &parse->lexer.string;
	struct event *event;
	int err;

	err = expect(parse, "event", "'event' or '}'");
	if (!err)
		err = parse_name(parse, "an event", &declaration);
	if (!err)
		err = add_event(parse, subsystem, declaration);
	if (err)
		return err;
	event = &subsystem->events[subsystem->event_count - 1];
	if (parse->lexer.token.kind != TOKEN_STRING)
		return expected(parse, "the text of the event, a string");
	event->text = string->size ? xstrndup(string->data, string->size)
				   : xstrndup(declaration.name, strlen(declaration.name));
	err = lexer_advance(&parse->lexer);
	if (!err && lexer_is_at(&parse->lexer, "{"))
		err = parse_fields(parse, event);
	return err;
}

static int parse_events(struct parse *parse, struct subsystem *subsystem)
{
	int err = 0;

	while (!err && !lexer_is_at(&parse->lexer, "}")) {
		err = parse_event(parse, subsystem);
		if (!err)
			err = skip_optional(parse, ",");
	}
	return err;
}

static int parse_subsystem(struct parse *parse)
{
	struct schema *schema = parse->parser->schema;
	struct declaration declaration = { 0 };
	const struct name_entry *first;
	struct buffer key = { 0 };
	int err;

	err = expect(parse, "subsystem", "'subsystem'");
	if (!err)
		err = parse_name(parse, "a subsystem", &declaration);
	if (err)
		return err;

	schema_add_subsystem(schema, declaration);
	buffer_add_upper(&key, declaration.name);
	first = name_table_add(&parse->parser->subsystems,
			       &(struct name_entry){ .key = key.data, .declaration = declaration });
	buffer_fini(&key);
	if (first)
		return duplicate_error(parse, "subsystem", &declaration, &first->declaration);
	if (schema->subsystem_count > SUBSYSTEM_COUNT_MAX)
		return parse_error(parse, declaration.offset, "more than %d subsystems", SUBSYSTEM_COUNT_MAX);

	err = expect(parse, "{", "'{'");
	if (!err)
		err = parse_events(parse, &schema->subsystems[schema->subsystem_count - 1]);
	if (!err)
		err = expect(parse, "}", "'}'");
	if (!err)
		err = skip_optional(parse, ";");
	return err;
}

void parser_init(struct parser *parser, struct schema *schema, struct buffer *messages)
{
	*parser = (struct parser){ .schema = schema, .messages = messages };
}

void parser_fini(struct parser *parser)
{
	name_table_fini(&parser->subsystems);
	name_table_fini(&parser->events);
}

int parser_parse(struct parser *parser, const struct source *source)
{
	struct parse parse = { .parser = parser, .source = source };
	int err;

	lexer_init(&parse.lexer, source, parser->messages);
	err = lexer_advance(&parse.lexer);
	while (!err && parse.lexer.token.kind != TOKEN_END)
		err = parse_subsystem(&parse);
	lexer_fini(&parse.lexer);
	return err;
}
