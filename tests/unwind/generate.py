#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Writes a random C or C++ program (random_program.py) that gives its own stack (shadow.h) and blocks,
at several places.

generate.py SEED [DIRECTORY]: writes the program that the number stands for, and prints the
commands that build it, to be run in that directory.
"""
import os
import shlex
import sys

from random_program import CLASSES, FAULTS, LINKS, TYPES, Program

HERE = os.path.dirname(os.path.abspath(__file__))

# Links that are one instruction, in our words, as a compiler may know what comes of its own.
INSTRUCTIONS = {
    "hlt": '"hlt" : : : "memory"', "ud2": '"ud2" : : : "memory"',
    "div": '"divl %%ecx" : : "a"(1), "c"(0), "d"(0) : "memory", "cc"',
    "int3": '"int3" : : : "memory"',
}
# Those that are not called with a number.
WITHOUT_A = ("compare", "walk", "phdr", "once", "terminate", "handler", "guard", "error", "main",
             "constructor")


class Text:
    def __init__(self, program):
        self.program = program
        self.random = program.random
        self.shared = self.types()

    def types(self):
        """What both units must know."""
        lines = []
        if self.program.is_cxx:
            lines += ["struct t_error { long value; };",
                      "struct t_quiet { long depth; SHADOW_APART ~t_quiet(); };"]
        for f in self.program.functions:
            if f.kind in ("byval", "sret"):
                words = self.random.choice([3, 3, 8, 25, 500])
                lines.append(f"struct t_struct_{f.number} {{ long v[{words}]; }};")
            if f.kind in CLASSES:
                lines += self.class_of(f)
        called = [f"{self.specifiers(f)} {f.declaration()};" for f in self.program.functions
                  if f.kind not in CLASSES + ("main",)]
        return lines + (['extern "C" {', *called, "}"] if self.program.is_cxx else called)

    @staticmethod
    def specifiers(f):
        words = ["static"] if f.is_static else []
        words.append("SHADOW_APART")
        attributes = [f.attribute] if f.attribute else []
        attributes += ["noreturn"] if f.kind in ("noreturn", "terminate") else []
        attributes += ["constructor"] if f.kind == "constructor" else []
        return " ".join(words + [f"__attribute__(({a}))" for a in attributes])

    def class_of(self, f):
        n, member = f.number, f"SHADOW_APART {f.declaration()};"
        if f.kind == "method":
            return [f"struct t_class_{n} {{ long field[{n % 7 + 1}]; {member} }};"]
        if f.kind == "virtual":
            return [f"struct t_class_{n} {{ virtual {member} long field = 0; }};"]
        if f.kind == "thunk":
            return [f"struct t_pad_{n} {{ virtual long pad() {{ return {n}; }} "
                    "long field[3] = { }; };",
                    f"struct t_base_{n} {{ virtual long call(long a) {{ return a; }} }};",
                    f"struct t_class_{n} : t_pad_{n}, t_base_{n} {{ {member} }};"]
        if f.kind == "guard":
            return [f"struct t_class_{n} {{ long depth; {member} }};"]
        return [f"struct t_class_{n} {{ long value; {member} }};"]

    def globals_of(self, f):
        """What the callers of a function use."""
        n, lines = f.number, []
        if f.kind in ("virtual", "thunk"):
            base = f"t_base_{n}" if f.kind == "thunk" else f"t_class_{n}"
            lines += [f"static t_class_{n} t_object_{n};",
                      f"static {base} *volatile t_object_pointer_{n} = &t_object_{n};"]
        elif f.kind not in CLASSES and f.kind != "main":
            lines.append(f"static __typeof__(&{f.name}) volatile t_pointer_{n} = {f.name};")
        return lines

    def expression(self, f, by_pointer=False):
        """A call, as something that can be added to a long."""
        value = self.random.choice(["a", "a + 1", "r", "r ^ a", "shadow_zero", str(f.number)])
        name = f"t_pointer_{f.number}" if by_pointer else f.name
        if f.kind == "plain":
            return f"{name}({value}, r + 3)"
        if f.kind == "many":
            return f"{name}({value}, " + ", ".join(f"a + {i}" for i in range(10)) + ")"
        if f.kind == "variadic":
            count = self.random.randint(0, 12)
            extra = "".join(f", {self.random.choice(['1L', 'a', 'r', '2.5'])}"
                            for _ in range(count))
            return f"{name}({count}{extra})"
        if f.kind == "byval":
            return f"{name}(t_value_{f.number}, {value})"
        if f.kind == "sret":
            return f"{name}({value}).v[1]"
        if f.kind == "double":
            return f"(long){name}(shadow_doubles[1], {value})"
        if f.kind == "method":
            return f"t_class_{f.number}().call({value})"
        if f.kind in ("virtual", "thunk"):
            return f"t_object_pointer_{f.number}->call({value})"
        assert f.kind == "noreturn", f.kind
        return f"{name}({value})"

    def call(self, f, by_pointer=False):
        """Statements that call a function and come back to this one."""
        before = [f"static struct t_struct_{f.number} t_value_{f.number};"] \
            if f.kind == "byval" else []
        call = ["r += " + self.expression(f, by_pointer) + ";", "SHADOW_BACK();"]
        form = self.random.randrange(8)
        if form == 0:
            call = ["for (long i = 0; i <= shadow_zero; i++) {", *call, "}"]
        elif form == 1:
            call = ["if (shadow_zero) {", "r = r * 3 + a;", "} else {", *call, "}"]
        elif form == 2:
            bytes = self.random.choice([1, 100, 3000])
            call = ["{", f"char vla[(a & 31) + {bytes}];", "shadow_use(vla);", *call,
                    "shadow_use(vla);", "}"]
        elif form == 3:
            cases = [f"case {i}: r ^= shadow_values[{i}]; break;" for i in range(5)]
            call = ["switch (shadow_zero + 7) {", *cases, "default:", *call, "}"]
        return ["{", *before, *call, "}"]

    def definition(self, f):
        body = self.body(f)
        specifiers = f"{self.specifiers(f)} " if f.kind not in CLASSES + ("main",) else ""
        lines = [f"{specifiers}{f.declaration(True)}", "{"]
        depth = 1
        for line in body:
            if line.startswith("}"):
                depth -= 1
            lines.append("\t" * depth + line)
            if line.endswith("{"):
                depth += 1
        return lines + ["}", ""]

    def body(self, f):
        lines = []
        is_tail = (f.link or "").startswith("tail")
        kind = "SHADOW_TAIL" if is_tail else "SHADOW_CALL"
        if f.kind == "guard":
            # One that gcc sees never returns makes it drop the handlers of its callers: terminate.
            lines += ["if (shadow_zero)", "\treturn;", "shadow_count = depth;"]
        if f.kind == "handler":
            lines.append("shadow_push((void *)SHADOW_RIP(context), SHADOW_EXACT);")
        if f.kind == "constructor":
            lines.append("shadow_count = 0;")
        if f.kind == "main" and f is not self.program.root:
            return ["return 0;"]
        lines.append(f"SHADOW_ENTER({kind});")
        lines.append(f"long r = {f.number};")
        if f.kind in WITHOUT_A:
            lines.append(f"long a = shadow_values[{self.random.randrange(16)}];")
        if f.kind == "constructor" or f.kind == "main":
            lines.append("shadow_setup();")
        if f.kind in ("compare", "walk", "phdr"):
            done = {"compare": "return 0;", "walk": "return;", "phdr": "return 0;"}[f.kind]
            lines += ["static int calls;", "if (calls++)", f"\t{done}"]
        elif f.kind == "variadic":
            lines += ["va_list list;", "va_start(list, a);", "for (long i = 0; i < (a & 1); i++)",
                      "\tr += va_arg(list, long);", "va_end(list);"]
        elif f.kind in ("plain", "many", "method") and self.program.chance(0.4):
            lines += ["if (a + shadow_zero == 778899)", "\treturn a;"]
        before, uses = self.frame(f)
        lines += before
        half = len(f.sides) // 2
        for side in f.sides[:half]:
            lines += self.call(side)
        if f.blocks[0]:
            lines += ["shadow_block();", "SHADOW_BACK();"]
        if is_tail:
            lines += uses if self.program.chance(0.5) else []
            return lines + self.tail(f)
        lines += self.link(f)
        if f.blocks[1]:
            lines += ["shadow_block();", "SHADOW_BACK();"]
        for side in f.sides[half:]:
            lines += self.call(side)
        return lines + uses + self.end(f)

    def frame(self, f):
        """Locals, and what makes them matter to the end of the function."""
        before, uses, some = [], [], self.random
        if f.is_large:
            bytes = (1 << 20) - some.choice([0, 8, 1000])
            before += [f"char large[{bytes}];", "shadow_use(large);"]
            uses.append("shadow_use(large);")
        if self.program.chance(0.5):
            bytes = some.choice([1, 8, 24, 100, 128, 200, 1000, 5000, 20000])
            before += [f"char buffer[{bytes}];", "shadow_use(buffer);"]
            uses += ["shadow_use(buffer);"] if self.program.chance(0.7) else []
        if self.program.chance(0.2):
            align = some.choice([32, 64, 64, 64, 128, 4096])
            before += [f"char aligned[{some.choice([8, 64, 1000])}] "
                       f"__attribute__((aligned({align})));", "shadow_use(aligned);"]
            uses.append("shadow_use(aligned);")
        if self.program.chance(0.15):
            before += [f"char *room = (char *)__builtin_alloca((a & 63) + "
                       f"{some.choice([1, 16, 500, 9000])});", "shadow_use(room);"]
            uses.append("shadow_use(room);")
        if self.program.chance(0.1):
            before += [f"char vla[(a & 63) + {some.choice([1, 64, 2000])}];", "shadow_use(vla);"]
            uses.append("shadow_use(vla);")
        if self.program.chance(0.5):
            for i in range(some.randint(1, 14)):
                before.append(f"long p{i} = shadow_values[{i}];")
                uses.append(f"r = r * 5 ^ p{i};")
        if self.program.chance(0.15):
            for i in range(some.randint(1, 8)):
                before.append(f"double d{i} = shadow_doubles[{i}];")
                uses.append(f"r += (long)(d{i} * {i + 2});")
        return before, uses

    def tail(self, f):
        callee = f.next
        before = []
        if callee.kind == "byval":
            before = [f"static struct t_struct_{callee.number} t_value_{callee.number};"]
        by_pointer = f.link == "tail_pointer" and callee.kind not in CLASSES
        call = self.expression(callee, by_pointer)
        if f.kind == "double" and callee.kind == "double":
            call = call.replace("(long)", "")
        result = TYPES[f.kind][0]
        if result in ("void", ""):
            return before + [f"{call};"]
        if f.kind == "sret":
            return before + [f"struct t_struct_{f.number} result;",
                             "memset(&result, 0, sizeof(result));", f"result.v[0] = {call};",
                             "return result;"]
        can_must = self.program.is_clang and f.kind == callee.kind == "plain" and \
            not f.attribute and not callee.attribute
        must = "__attribute__((musttail)) " if can_must and self.program.chance(0.3) else ""
        cast = "" if result == "long" else f"({result})"
        return before + [f"{must}return {cast}{call};"]

    def link(self, f):
        """Statements that make the chain go on from a function, other than by a tail call."""
        if f.link is None:
            return []
        if f.link in ("direct", "pointer"):
            call = self.call(f.next, f.link == "pointer" and f.next.kind not in CLASSES)
            return self.caught(call, 11) if f.has_try else call
        if f.link == "noreturn":
            return [f"{self.expression(f.next)};"]
        if f.link == "raise":
            return [f"shim_raise({f.signal});", "SHADOW_BACK();"]
        if f.link in FAULTS:
            return self.fault(f) + ["SHADOW_BACK();"]
        if f.link in LINKS:
            return self.through_libc(f) + ["SHADOW_BACK();"]
        return self.exception(f)

    @staticmethod
    def caught(lines, number):
        return ["try {", *lines, "} catch (...) {", "SHADOW_BACK();", f"r += {number};", "}",
                "SHADOW_BACK();"]

    def fault(self, f):
        if f.link in INSTRUCTIONS:
            return [f"__asm__ volatile({INSTRUCTIONS[f.link]});"]
        if f.link == "load":
            return ["r += *(volatile long *)shadow_trap;"]
        if f.link == "memcpy":
            return [f"char from[{self.random.choice([8, 300])}];",
                    "shim_memcpy(from, shadow_trap, sizeof(from));", "shadow_use(from);"]
        if f.link == "memset":
            return [f"shim_memset(shadow_trap, 0, {self.random.choice([1, 64, 4000])});"]
        if f.link == "strlen":
            return ["r += shim_strlen(shadow_trap);"]
        assert f.link == "abort", f.link
        return ["shim_abort();"]

    def exception(self, f):
        back, owner = "SHADOW_BACK();", f"t_class_{f.next.number}" if f.next else ""
        if f.link == "quiet":
            return ["t_quiet quiet = { shadow_mine };", *self.call(f.next)]
        if f.link == "throw":
            return [f"throw {f.error}{{ a }};"]
        if f.link == "terminate":
            return [f"std::set_terminate({f.next.name});", *self.call(f.helper)]
        if f.link == "catch":
            type = self.random.choice(["t_error &", "..."])
            again = ["throw;"] if self.program.chance(0.2) else []
            lines = ["try {", *self.call(f.helper), f"}} catch ({type}) {{", back,
                     *self.call(f.next), *again, "}", back]
            return self.caught(lines, 12) if again else lines
        if f.link == "error":
            return ["try {", *self.call(f.helper), f"}} catch ({owner} &) {{", back, "r++;", "}",
                    back]
        if f.link == "scope":
            return ["{", f"{owner} guard = {{ shadow_mine }};", "shadow_use(&guard);", "}", back]
        assert f.link == "guard", f.link
        lines = [f"{owner} guard = {{ shadow_mine }};", "shadow_use(&guard);",
                 *self.call(f.helper)]
        return self.caught(lines, 5) if f.has_try else lines

    def through_libc(self, f):
        name, link = f.next.name, f.link
        size = self.random.choice([8, 40])
        count = self.random.choice([2, 5, 20, 60])
        if link == "qsort":
            return [f"char array[{count * size}];", "memset(array, 0, sizeof(array));",
                    f"shim_qsort(array, {count}, {size}, {name});"]
        if link == "bsearch":
            return ["long array[9] = { 0 };",
                    f"r += shim_bsearch(&r, array, 9, sizeof(long), {name}) != NULL;"]
        if link == "lfind":
            return ["long array[9] = { 0 };", "size_t count = 9;",
                    f"r += shim_lfind(&r, array, &count, sizeof(long), {name}) != NULL;"]
        if link == "tfind":
            return ["void *root = NULL;", f"tsearch(&r, &root, {name});",
                    f"r += shim_tfind(&r, &root, {name}) != NULL;"]
        if link == "twalk":
            return ["void *root = NULL;",
                    "tsearch(&r, &root, (int (*)(const void *, const void *))strcmp);",
                    f"shim_twalk(root, {name});"]
        if link == "once":
            return ["static pthread_once_t once = PTHREAD_ONCE_INIT;",
                    f"shim_pthread_once(&once, {name});"]
        if link == "phdr":
            return [f"shim_dl_iterate_phdr({name}, NULL);"]
        assert link == "exit", link
        return [f"atexit({name});", "shim_exit(0);"]

    def end(self, f):
        if f.kind in ("noreturn", "terminate") or f.fix == "end":
            return ["_exit(0);"]
        if f.fix == "open":
            return ["mprotect(shadow_trap, 4096, PROT_READ | PROT_WRITE);"]
        if f.fix:
            return [f"SHADOW_RIP(context) += {f.fix};"]
        result = TYPES[f.kind][0]
        if result in ("void", ""):
            return ["shadow_values[0] = r;"]
        if f.kind == "sret":
            return [f"struct t_struct_{f.number} result;", "memset(&result, 0, sizeof(result));",
                    "result.v[0] = r;", "return result;"]
        if f.kind == "main":
            return ["shadow_values[0] = r;", "return 0;"]
        return ["return 1;" if f.kind == "phdr" else "return 0;" if f.kind == "compare"
                else f"return ({result})r;"]

    def setup(self):
        lines = ["void shadow_setup(void)", "{",
                 "\tshadow_trap = (char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, "
                 "-1, 0);"]
        if self.program.has_library:
            lines.append("\tshadow_library = t_library();")
        for f in self.program.functions:
            if f.signal:
                lines.append(f"\tshadow_handle({f.signal}, {f.next.name}, {f.flags});")
        return lines + ["}", ""]

    def unit(self, number):
        lines = ["/* SPDX-License-Identifier: GPL-2.0-or-later */",
                 f"/* generate.py {self.program.seed} */",
                 "#define SHADOW_MAIN" if number == 0 else "", '#include "shadow.h"', ""]
        lines += self.shared
        c_linkage = 'extern "C" ' if self.program.is_cxx else ""
        if self.program.has_library:
            lines.append(f"{c_linkage}void *t_library(void);")
            if number:
                # Not its own address, which may be that of a stub in the program.
                lines += [f'{c_linkage}__attribute__((visibility("hidden"))) SHADOW_APART '
                          "void t_inside(void) { }",
                          f"{c_linkage}void *t_library(void) {{ return (void *)t_inside; }}"]
        for f in self.program.functions:
            lines += self.globals_of(f)
        lines.append("")
        for f in self.program.functions:
            if f.unit == number:
                lines += self.definition(f)
        if number == 0:
            lines += self.setup()
            if self.program.is_cxx:
                lines += ["t_quiet::~t_quiet()", "{", "\tshadow_count = depth;",
                          "\tSHADOW_ENTER(SHADOW_CALL);", "\tshadow_use(&depth);",
                          "\tSHADOW_BACK();", "}"]
        return "\n".join(lines) + "\n"


def build_commands(program):
    ending = "cc" if program.is_cxx else "c"
    units = ["main"] + ["library"] * program.has_library
    define = ["-DSHADOW_CXX"] if program.is_cxx else []
    libraries = []
    commands = [[program.compiler, *define, "-c", os.path.join(HERE, "shadow.S"), "-o",
                 "shadow.o"]]
    for unit in units:
        pic = ["-fPIC"] if unit == "library" else []
        commands.append([program.compiler, "-w", "-fwrapv", "-D_GNU_SOURCE", f"-I{HERE}",
                         *program.options, *pic, "-c", f"{unit}.{ending}", "-o", f"{unit}.o"])
        if program.is_cxx:
            renamed = [f"--redefine-sym={name}=shim_{name}" for name in
                       ("__cxa_throw", "__cxa_rethrow", "__cxa_end_catch")]
            commands.append(["objcopy", *renamed, f"{unit}.o"])
    if program.has_library:
        commands.append([program.compiler, "-shared", "library.o", "-o", "library.so"])
        libraries = ["library.so", "-Wl,-rpath,$ORIGIN", "-rdynamic"]
    commands.append([program.compiler, *program.link_options, "main.o", "shadow.o", *libraries,
                     "-o", "main"])
    return commands


def write(program, directory):
    """Writes the sources; returns the commands."""
    ending = "cc" if program.is_cxx else "c"
    text = Text(program)
    for number, unit in enumerate(["main"] + ["library"] * program.has_library):
        with open(os.path.join(directory, f"{unit}.{ending}"), "w") as file:
            file.write(text.unit(number))
    return build_commands(program)


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: generate.py SEED [DIRECTORY]", file=sys.stderr)
        return 2
    directory = sys.argv[2] if len(sys.argv) == 3 else "."
    for command in write(Program(int(sys.argv[1])), directory):
        print(shlex.join(command))
    return 0


if __name__ == "__main__":
    sys.exit(main())
