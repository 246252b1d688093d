# SPDX-License-Identifier: GPL-2.0-or-later
"""
A random program of which a number stands for all: how it is compiled, its functions, and one chain
of calls from main() on, or from a constructor. The links of the chain are of all the kinds that
make a stack hard to follow. generate.py writes its text.
"""
import random
import shutil

# By seed % 4.
COMPILERS = ("gcc", "clang", "g++", "clang++")
DEPTH_MIN, DEPTH_MAX = 3, 40
LARGE_FRAMES_MAX = 3            # of 1 MB; the stack has 8
BLOCKS = 5                      # places to block at, on average

# What a function is called as: the return type, and what is behind the name. The callbacks'
# parameters are libc's.
TYPES = {
    "plain": ("long", "(long a, long b)"),
    "many": ("long", "(long a, " + ", ".join(f"long b{i}" for i in range(10)) + ")"),
    "variadic": ("long", "(long a, ...)"),
    "byval": ("long", "(struct t_struct_{n} s, long a)"),
    "sret": ("struct t_struct_{n}", "(long a)"),
    "double": ("double", "(double d, long a)"),
    "method": ("long", "(long a)"),
    "virtual": ("long", "(long a)"),
    "thunk": ("long", "(long a)"),
    "noreturn": ("void", "(long a)"),
    "compare": ("int", "(const void *x, const void *y)"),
    "walk": ("void", "(const void *node, VISIT visit, int level)"),
    "phdr": ("int", "(struct dl_phdr_info *info, size_t size, void *data)"),
    "once": ("void", "(void)"),
    "terminate": ("void", "(void)"),
    "handler": ("void", "(int number, siginfo_t *info, void *context)"),
    "guard": ("", "()"),
    "error": ("", "()"),
    "main": ("int", "(void)"),
    "constructor": ("void", "(void)"),
}
CALLED = ("plain",) * 6 + ("many", "many", "variadic", "variadic", "byval", "sret", "double")
CALLED_CXX = CALLED + ("method", "virtual")
# gcc's thunks only jump. Some of clang's have a frame, which nobody would tell.
CALLED_GXX = CALLED_CXX + ("thunk",)
CLASSES = ("method", "virtual", "thunk", "guard", "error")

# How the chain goes on, with weights.
LINKS = {
    "direct": 40, "pointer": 12, "tail": 14, "tail_pointer": 5, "noreturn": 2,
    "qsort": 3, "bsearch": 3, "lfind": 1, "tfind": 1, "twalk": 1, "once": 3, "phdr": 2, "exit": 2,
    "raise": 4, "load": 4, "ud2": 1.5, "div": 1.5, "int3": 1.5, "hlt": 1, "memcpy": 2, "memset": 1,
    "strlen": 1, "abort": 1,
}
LINKS_CXX = LINKS | {"catch": 6, "guard": 6, "scope": 2, "error": 3, "terminate": 2}

CALLBACKS = {"qsort": "compare", "bsearch": "compare", "lfind": "compare", "tfind": "compare",
             "twalk": "walk", "once": "once", "exit": "once", "phdr": "phdr",
             "terminate": "terminate", "guard": "guard", "scope": "guard", "error": "error",
             "noreturn": "noreturn"}
# The signal of a link, and what its handler does so that the instruction goes well or is not
# executed again: it makes the page accessible, skips so many bytes, or ends the program.
FAULTS = {
    "load": ("SIGSEGV", "open"), "memcpy": ("SIGSEGV", "open"), "memset": ("SIGSEGV", "open"),
    "strlen": ("SIGSEGV", "open"), "hlt": ("SIGSEGV", 1), "ud2": ("SIGILL", 2),
    "div": ("SIGFPE", 2), "int3": ("SIGTRAP", 0), "abort": ("SIGABRT", "end"),
}
# Those that may be all that a function does: it calls nobody.
LEAF_FAULTS = ("load", "ud2", "div", "int3", "hlt")
TO_RAISE = ["SIGUSR1", "SIGUSR2", "SIGALRM", "SIGRTMIN", "SIGURG"]


class Function:
    def __init__(self, number, kind, unit):
        self.number, self.kind = number, kind
        self.unit = unit                # 0: the program, 1: its library
        self.is_static = False
        self.is_large = False           # its frame
        self.is_leaf = False            # calls nobody
        self.attribute = ""
        self.link = self.next = None    # how the chain goes on, and with whom
        self.has_try = False            # around the call of the next
        self.helper = None              # the first of those that throw
        self.error = None               # the type of what it throws
        self.signal = None              # that the link takes
        self.flags = "0"                # of the signal's action
        self.fix = None                 # what a handler does about its fault
        self.sides = []                 # called and gone before and after
        self.blocks = [False, False]    # before the link, after it

    @property
    def name(self):
        return "main" if self.kind == "main" else f"t_{self.number}"

    @property
    def title(self):
        """The name that people see."""
        if self.kind in CLASSES:
            owner = f"t_class_{self.number}"
            return f"{owner}::" + ("call" if TYPES[self.kind][0] else f"~{owner}")
        return self.name

    def declaration(self, is_definition=False):
        result, parameters = TYPES[self.kind]
        parameters = parameters.replace("{n}", str(self.number))
        result = result.replace("{n}", str(self.number))
        name = self.title if is_definition else self.title.split("::")[-1]
        return f"{result} {name}{parameters}".strip()


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.compiler = COMPILERS[seed % 4]
        self.is_cxx = self.compiler.endswith("++")
        self.is_clang = self.compiler.startswith("clang")
        self.functions = []
        self.signals = set()
        self.large_count = 0
        self.can_terminate = True
        self.choose_options()
        self.choose_functions()

    def chance(self, probability):
        return self.random.random() < probability

    # --- Options ---------------------------------------------------------------------------------

    def choose_options(self):
        some = self.random.choice
        linkage = some(["", "", "", "-pie", "-pie", "-no-pie", "-no-pie", "-static", "-static",
                        "-static-pie"])
        is_static = linkage.startswith("-static")
        self.has_library = not is_static and self.chance(0.3)
        self.options = [some(["-O0", "-O1", "-O2", "-O2", "-O3", "-Os"])]
        self.options += {"-pie": ["-fPIE"], "-static-pie": ["-fPIE"], "-no-pie": ["-fno-pie"],
                         "-static": some([["-fno-pie"], []])}.get(linkage, [])
        for choices in (
                ["", "-fomit-frame-pointer", "-fno-omit-frame-pointer"],
                ["", "-fcf-protection", "-fcf-protection=none"], ["", "-g"],
                ["", "", "-fno-plt"], ["", "", "-fstack-protector-all", "-fstack-protector-strong"],
                ["", "", "-fstack-clash-protection"], ["", "", "", "-ffunction-sections"],
                ["", "", "", "", "-mno-red-zone"], ["", "", "", "", "-fno-optimize-sibling-calls"],
                ["", "", "", "", "-mstackrealign"]):
            self.options.append(some(choices))
        if not self.is_clang:
            for choices in (["", "", "", "-maccumulate-outgoing-args"],
                            ["", "", "", "-fno-shrink-wrap"], ["", "", "", "-fno-ipa-ra"],
                            ["", "", "", "-fnon-call-exceptions"]):
                self.options.append(some(choices))
        else:
            self.options += ["-mno-omit-leaf-frame-pointer"] if self.chance(0.2) else []
        self.options = [o for o in self.options if o]
        self.link_options = [linkage] if linkage else []
        linker = some([""] * 6 + ["gold", "lld"] * (not is_static))
        for choices in (["", "", "-Wl,-z,now", "-Wl,-z,lazy"],
                        [f"-fuse-ld={linker}"] if shutil.which(f"ld.{linker}") else [""],
                        ["", "", "-Wl,-z,noseparate-code"] if linker != "gold" else [""]):
            self.link_options += [o for o in [some(choices)] if o]

    # --- The functions and who calls whom --------------------------------------------------------

    def add(self, kind):
        unit = 1 if self.has_library and kind != "main" and self.chance(0.4) else 0
        function = Function(len(self.functions), kind, unit)
        function.is_static = not self.has_library and self.chance(0.5) and \
            kind not in CLASSES + ("main",)
        if self.large_count < LARGE_FRAMES_MAX and self.chance(0.05):
            function.is_large = True
            self.large_count += 1
        if kind in ("plain", "many", "noreturn") and self.chance(0.08):
            function.attribute = self.random.choice(self.attributes())
        self.functions.append(function)
        return function

    def attributes(self):
        """What makes a function keep other registers, or align its stack."""
        names = ["force_align_arg_pointer"]
        if self.is_clang and not self.is_cxx and not self.has_library:
            # It keeps r10, too, which ld.so changes when it binds a function late.
            names.append("preserve_most")
        elif not self.is_clang and not self.is_cxx:
            names += ["ms_abi", 'optimize("O0")', 'optimize("O2")']
        return names

    def called_kind(self):
        return self.random.choice(CALLED if not self.is_cxx else CALLED_CXX if self.is_clang
                                  else CALLED_GXX)

    def choose_functions(self):
        depth = self.random.randint(DEPTH_MIN, DEPTH_MAX)
        root = self.add("constructor" if self.chance(0.08) else "main")
        chain = [root]
        while len(chain) < depth:
            chain.append(self.extend(chain))
        self.root, self.innermost = root, chain[-1]
        for function in chain:
            function.blocks = [not function.is_leaf and self.chance(BLOCKS / depth / 2)
                               for _ in range(2)]
        chain[-1].blocks[0] = True
        chain[-1].is_leaf = False
        if root.kind != "main":
            self.add("main")
        pool = [self.add(self.called_kind()) for _ in range(self.random.randint(0, 6))]
        for i, function in enumerate(pool):
            function.sides = [s for s in pool[i + 1:] if self.chance(0.2)]
        for function in chain:
            if not function.is_leaf:
                function.sides = [s for s in pool if self.chance(0.15)]

    def is_possible(self, chain, link):
        current = chain[-1]
        if link in FAULTS:
            return FAULTS[link][0] not in self.signals
        if link == "raise":
            return len(self.signals & set(TO_RAISE)) < len(TO_RAISE)
        if link.startswith("tail"):
            # A handler that must put things right, and one that must not return, cannot.
            return current.kind not in ("main", "terminate", "noreturn") and current.fix is None
        if link == "exit":
            # Within exit() it would not run the rest of its list in this way.
            return not any(f.link == "exit" for f in chain)
        if link == "terminate":
            return self.can_terminate
        return True

    def choose_link(self, chain):
        links = LINKS_CXX if self.is_cxx else LINKS
        while True:
            link = self.random.choices(list(links), list(links.values()))[0]
            if self.is_possible(chain, link):
                return link

    def extend(self, chain):
        """Links another function to the last one."""
        current = chain[-1]
        current.link = link = self.choose_link(chain)
        if link in FAULTS or link == "raise":
            function = self.take_signal(current)
        else:
            function = self.add(CALLBACKS.get(link) or self.called_kind())
        if link in ("catch", "guard", "error", "terminate"):
            current.helper = self.throwers("t_error" if link != "error"
                                           else f"t_class_{function.number}")
        if link == "guard":
            # The function itself catches what runs its destructor, or its caller does.
            by_caller = len(chain) > 1 and self.chance(0.5) and \
                chain[-2].link in ("direct", "pointer")
            catcher = chain[-2] if by_caller else current
            catcher.has_try = True
        if link in ("catch", "guard", "error", "scope", "terminate"):
            self.can_terminate = False
        current.next = function
        return function

    def take_signal(self, current):
        """A handler, for the signal that the link takes."""
        link, handler = current.link, self.add("handler")
        if link in FAULTS:
            current.signal, handler.fix = FAULTS[link]
        else:
            current.signal = self.random.choice([s for s in TO_RAISE if s not in self.signals])
        self.signals.add(current.signal)
        current.flags = self.random.choice(["0", "SA_ONSTACK", "SA_NODEFER",
                                            "SA_ONSTACK | SA_NODEFER"])
        current.is_leaf = link in LEAF_FAULTS and current.kind in CALLED_GXX and self.chance(0.6)
        return handler

    def throwers(self, error):
        """A chain of its own that ends in a throw."""
        first = current = self.add(self.called_kind())
        for _ in range(self.random.randint(0, 3)):
            current.link = self.random.choice(["direct", "pointer", "tail", "quiet"])
            current.next = self.add(self.called_kind())
            current = current.next
        current.link = "throw"
        current.error = error
        return first
