"""Who calls whom in a tree of Python, as jedi sees it: JSON lines for `rootset-bench code-answers`. What jedi cannot resolve is
left out. Files come in an order drawn by a seed, so that a run that is ended early has seen a fair part of the tree.

    pip install jedi && python python.py TREE [SECONDS] > truth.jsonl
"""

import ast
import json
import os
import random
import sys
import time

import jedi

SEED = 20_261_119

root = os.path.realpath(sys.argv[1])
ends_at = time.monotonic() + float(sys.argv[2]) if len(sys.argv) > 2 else float("inf")
project = jedi.Project(root, smart_sys_path=True, sys_path=[root, os.path.join(root, "src"), *sys.path[1:]])

files = []
for folder, below, names in os.walk(root):
    below[:] = sorted(it for it in below if it != ".git")
    files += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
random.Random(SEED).shuffle(files)


def place(name):
    path = name.module_path and os.path.realpath(name.module_path)
    if not path or not str(path).startswith(root + os.sep) or name.line is None:
        return None
    return {"file": os.path.relpath(path, root), "line": name.line}


def sites(tree):
    """Line, column and name of everything that is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.lineno, function.col_offset, function.id
            elif isinstance(function, ast.Attribute):
                # Of what stands over several lines, the name is in the last.
                yield function.end_lineno, function.end_col_offset - len(function.attr.encode()), function.attr


for path in files:
    if time.monotonic() > ends_at:
        break
    with open(path, "rb") as source:
        text = source.read()
    try:
        tree = ast.parse(text)
        text = text.decode()
    except (SyntaxError, ValueError):
        continue
    lines = text.splitlines()
    script = jedi.Script(text, path=path, project=project)
    for line, column, name in sorted(set(sites(tree))):
        # The syntax tree counts bytes, jedi characters.
        column = len(lines[line - 1].encode()[:column].decode(errors="ignore"))
        try:
            found = script.goto(line, column, follow_imports=True)
        except Exception:  # jedi fails on some code
            continue
        callees = [it for it in found if it.type in ("function", "class", "property")]
        if not callees:
            continue
        targets = [it for it in map(place, callees) if it]
        record = {"file": os.path.relpath(path, root), "line": line, "name": name, "targets": targets}
        print(json.dumps(record), flush=True)
