/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plecoc: compiles Pleco event declarations to a C header, to JSON or to a table in C. */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "buffer.h"
#include "emit.h"
#include "output.h"
#include "parser.h"
#include "schema.h"
#include "source.h"

#ifndef PINCH_VERSION
#define PINCH_VERSION "0 (built without PINCH_VERSION)"
#endif

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char help[] = "Usage: plecoc --header [-o OUTPUT] FILE...\n"
			   "       plecoc --json [-o OUTPUT] FILE...\n"
			   "       plecoc --table [-o OUTPUT] FILE...\n"
			   "\n"
			   "Compiles the trace events that the Pleco FILEs declare, numbered in the order given,\n"
			   "to a C header, to JSON or to a table in C.\n"
			   "\n"
			   "  --header    write a C and C++ header: a macro for each number, a struct for each event\n"
			   "  --json      write the same numbers, with the texts and the layout of the fields\n"
			   "  --table     write that as C initialisers, for a program that reads any event\n"
			   "  -o OUTPUT   write to OUTPUT instead of standard output; on an error it is not touched\n"
			   "  --help      show this text\n"
			   "  --version   show the version\n"
			   "\n"
			   "Exit status: 0 fine, 1 an error in the input or in writing the output, 2 wrong usage.\n";

struct command_line {
	void (*emit)(const struct schema *schema, struct buffer *out);
	const char *output; /* NULL: standard output */
	const char *shown;  /* what --help or --version shows, instead of compiling */
	char **inputs;
	int input_count;
};

static int usage_error(const char *problem, const char *subject)
{
	fprintf(stderr, "plecoc: %s%s\nTry 'plecoc --help'.\n", problem, subject);
	return EXIT_USAGE;
}

/* Overwriting what was read is never meant. */
static bool is_an_input(const struct command_line *line)
{
	struct stat output, input;
	int i;

	if (!line->output || stat(line->output, &output) || !S_ISREG(output.st_mode))
		return false;
	for (i = 0; i < line->input_count; i++)
		if (!stat(line->inputs[i], &input) && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
			return true;
	return false;
}

static int read_command_line(struct command_line *line, int argc, char **argv)
{
	static const struct option options[] = {
		{ "header", no_argument, NULL, 'H' },  { "json", no_argument, NULL, 'j' },
		{ "table", no_argument, NULL, 't' },   { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' }, { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		void (*emit)(const struct schema *schema, struct buffer *out) = NULL;

		switch (option) {
		case 'H':
			emit = emit_header;
			break;
		case 'j':
			emit = emit_json;
			break;
		case 't':
			emit = emit_table;
			break;
		case 'o':
			if (line->output)
				return usage_error("more than one -o", "");
			line->output = optarg;
			break;
		case 'h':
			line->shown = help;
			return EXIT_FINE;
		case 'v':
			line->shown = "plecoc " PINCH_VERSION "\n";
			return EXIT_FINE;
		default:
			fprintf(stderr, "Try 'plecoc --help'.\n");
			return EXIT_USAGE;
		}
		if (emit && line->emit && emit != line->emit)
			return usage_error("--header, --json and --table exclude each other", "");
		if (emit)
			line->emit = emit;
	}
	line->inputs = argv + optind;
	line->input_count = argc - optind;
	if (!line->emit)
		return usage_error("say --header, --json or --table", "");
	if (!line->input_count)
		return usage_error("no FILE given", "");
	if (is_an_input(line))
		return usage_error("both an input and the output: ", line->output);
	return EXIT_FINE;
}

static int compile(const struct command_line *line, struct buffer *messages)
{
	struct source *sources = xrealloc(NULL, line->input_count * sizeof(*sources));
	struct schema schema = { 0 };
	struct buffer out = { 0 };
	struct parser parser;
	int i, source_count = 0, err = 0;

	parser_init(&parser, &schema, messages);
	for (i = 0; !err && i < line->input_count; i++) {
		err = source_read(&sources[i], line->inputs[i], messages);
		if (err)
			break;
		source_count++;
		err = parser_parse(&parser, &sources[i]);
	}
	if (!err) {
		line->emit(&schema, &out);
		err = output_write(line->output, &out, messages);
	}

	parser_fini(&parser);
	schema_fini(&schema);
	buffer_fini(&out);
	for (i = 0; i < source_count; i++)
		source_fini(&sources[i]);
	free(sources);
	return err;
}

int main(int argc, char **argv)
{
	struct command_line line = { 0 };
	struct buffer messages = { 0 }, shown = { 0 };
	int err, status;

	signal(SIGXFSZ, SIG_IGN); /* a file beyond ulimit -f is an error that is reported */
	status = read_command_line(&line, argc, argv);
	if (status != EXIT_FINE)
		return status;
	if (line.shown) {
		buffer_add_text(&shown, line.shown);
		err = output_write(NULL, &shown, &messages);
	} else {
		err = compile(&line, &messages);
	}
	if (messages.size)
		fputs(messages.data, stderr);
	buffer_fini(&messages);
	buffer_fini(&shown);
	return err ? EXIT_FAILED : EXIT_FINE;
}
