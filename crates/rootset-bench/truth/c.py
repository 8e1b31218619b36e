"""Who calls whom in a tree of C or C++, as clang sees it: JSON lines for `rootset-bench code-answers`. What clang cannot
resolve is left out. Macros are expanded: calls that a macro makes stand in the line of its use and are left out too.

    pip install libclang && python c.py TREE [CLANG ARGUMENT]... > truth.jsonl
"""

import glob
import json
import os
import sys

from clang.cindex import CursorKind, Index

root = os.path.realpath(sys.argv[1])
SOURCES = (".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hh", ".hpp", ".hxx")
CALLEES = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CONVERSION_FUNCTION,
}

sources, includes = [], {root}
for folder, below, names in os.walk(root):
    below[:] = sorted(it for it in below if it != ".git")
    for name in sorted(names):
        if name.endswith(SOURCES):
            sources.append(os.path.join(folder, name))
        elif name.endswith(HEADERS):
            # A header is included from its own folder, or from one of the two above it.
            above = folder
            for _ in range(3):
                includes.add(above)
                above = os.path.dirname(above)
                if len(above) < len(root):
                    break

# The compiler's own headers, which the library from PyPI comes without.
system = sorted(glob.glob("/usr/lib/gcc/*/*/include"))[-1:]
common = ["-I" + it for it in sorted(includes)] + ["-isystem" + it for it in system] + sys.argv[2:]
definitions: dict[str, tuple[str, int]] = {}
declarations: dict[str, tuple[str, int]] = {}
# Where a missing header makes two signatures of one, a function that is alone with its name is that one.
by_name: dict[str, set[tuple[str, int]]] = {}
names: dict[str, str] = {}
sites: dict[tuple[str, int, int], tuple[str, str | None]] = {}


def place(cursor):
    location = cursor.location
    if location.file is None:
        return None
    path = os.path.realpath(location.file.name)
    return (os.path.relpath(path, root), location.line) if path.startswith(root + os.sep) else None


def visit(unit):
    open_cursors = [unit.cursor]
    while open_cursors:
        cursor = open_cursors.pop()
        for child in cursor.get_children():
            if cursor.kind == CursorKind.TRANSLATION_UNIT and place(child) is None:
                continue
            open_cursors.append(child)
        if cursor.kind in CALLEES:
            at = place(cursor)
            if at:
                usr = cursor.get_usr()
                names[usr] = full_name(cursor)
                (definitions if cursor.is_definition() else declarations).setdefault(usr, at)
                if cursor.is_definition():
                    by_name.setdefault(names[usr], set()).add(at)
        elif cursor.kind == CursorKind.CALL_EXPR:
            call(cursor)


def full_name(cursor):
    parts = []
    while cursor is not None and cursor.kind != CursorKind.TRANSLATION_UNIT:
        parts.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return "::".join(reversed(parts))


def call(cursor):
    callee = cursor.referenced
    children = list(cursor.get_children())
    if callee is None or not cursor.spelling:
        return
    # The name stands where the expression that is called ends.
    at = cursor
    is_built = callee.kind == CursorKind.CONSTRUCTOR
    if not is_built and children:
        at = children[0]
        while at.kind == CursorKind.UNEXPOSED_EXPR:
            inner = list(at.get_children())
            if not inner:
                break
            at = inner[0]
    where = place(at)
    if where is None or callee.spelling.startswith("operator"):
        return
    path = os.path.join(root, where[0])
    with open(path, errors="replace") as file:
        written = lines.setdefault(path, file.read().split("\n"))
    line = where[1]
    if at.kind == CursorKind.MEMBER_REF_EXPR:
        line = at.extent.end.line
    text = written[line - 1] if line <= len(written) else ""
    # Conversions that nobody wrote, and what a macro makes.
    if cursor.spelling not in text or (is_built and callee.spelling + "(" not in text.replace(" ", "")):
        return
    usable = callee.kind in CALLEES
    template = callee.specialized_template if hasattr(callee, "specialized_template") else None
    if template is not None:
        callee = template
    sites.setdefault((where[0], line, at.location.column), (cursor.spelling, callee.get_usr() if usable else None))


lines: dict[str, list[str]] = {}
index = Index.create()
for source in sources:
    language = [] if source.endswith(".c") else ["-xc++", "-std=c++17"]
    try:
        visit(Index.create().parse(source, args=language + common))
    except Exception as error:  # one file that clang refuses is one file without sites
        print(f"{source}: {error}", file=sys.stderr)
for (path, line, _), (name, usr) in sorted(sites.items()):
    places = by_name.get(names.get(usr, ""), set())
    found = definitions.get(usr) or (next(iter(places)) if len(places) == 1 else None) or declarations.get(usr)
    targets = [{"file": found[0], "line": found[1]}] if found else []
    print(json.dumps({"file": path, "line": line, "name": name, "targets": targets}))
