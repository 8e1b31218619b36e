"""Who calls whom in a crate, as rustc sees it: JSON lines for `rootset-bench code-answers`. Read from the compiler's MIR
with its places; calls that a macro makes, operators and derived methods are left out.

    python rust.py CRATE [CARGO ARGUMENT]... > truth.jsonl
"""

import json
import os
import re
import subprocess
import sys
import tempfile

root = os.path.realpath(sys.argv[1])
HEAD = re.compile(r"^(?:const )?(?:unsafe )?fn (.*?)\((?:_1|\))")
PLACE = re.compile(r"(?:in scope|scope) \d+ at ([^ :]+):(\d+):(\d+): (\d+):(\d+)")
CALL = re.compile(r"^\s+\S+ = (.*?)\((?:move |copy |const |\))?.*\) -> \[?.*// scope")
IMPL = re.compile(r"<impl at ([^ :]+):(\d+):(\d+): (\d+):(\d+)>::([\w:]+)$")

with tempfile.TemporaryDirectory() as folder:
    mir = os.path.join(folder, "crate.mir")
    arguments = ["cargo", "rustc", "--lib", "--target-dir", folder, *sys.argv[2:], "--", f"--emit=mir={mir}",
                 "-Zmir-opt-level=0", "-Zmir-include-spans=on", "-Awarnings"]
    subprocess.run(arguments, cwd=root, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, stdout=sys.stderr)
    with open(mir) as file:
        written = file.read().split("\n")

sources: dict[str, str] = {}


def text(path):
    if path not in sources:
        with open(os.path.join(root, path), errors="replace") as file:
            sources[path] = file.read()
    return sources[path]


def offset(path, line, column):
    start = 0
    whole = text(path)
    for _ in range(line - 1):
        start = whole.index("\n", start) + 1
    return start + column - 1


def plain(name):
    """Without type arguments."""
    out, depth = [], 0
    for at, sign in enumerate(name):
        if sign == "<":
            depth += 1
        elif sign == ">" and name[at - 1] != "-":
            depth -= 1
        elif depth == 0:
            out.append(sign)
    return "".join(out).replace("::::", "::").rstrip(":")


def last(name):
    return plain(name).rstrip(":").split("::")[-1].strip().lstrip("&").removeprefix("mut ").strip()


# Where functions are: by (type, trait, name), ("", "", name), or (trait, "", name).
functions: dict[tuple[str, str, str], list[tuple[str, int]]] = {}


def implemented(path, line, column):
    """The type and the trait of an `impl`; `None` for one that a derive wrote."""
    head = text(path)[offset(path, line, column):]
    if not head.startswith(("impl", "unsafe impl")):
        return None
    head = head[: head.index("{")]
    head = re.sub(r"^(unsafe )?impl\s*", "", head)
    if head.startswith("<"):
        depth = 0
        for at, sign in enumerate(head):
            depth += (sign == "<") - (sign == ">" and head[at - 1] != "-")
            if depth == 0:
                head = head[at + 1:]
                break
    head = head.split(" where ")[0].split("\nwhere")[0]
    trait, of = head.rsplit(" for ", 1) if " for " in head else ("", head)
    return last(of.strip()), last(trait.strip())


current = None
sites = []
for line in written:
    head = HEAD.match(line)
    if head:
        current = head.group(1)
    elif current and "return place" in line:
        at = PLACE.search(line)
        inner = IMPL.search(current)
        if at and not at.group(1).startswith("/"):
            where = (at.group(1), int(at.group(2)))
            if inner:
                of = implemented(inner.group(1), int(inner.group(2)), int(inner.group(3)))
                key = (*of, inner.group(6)) if of else None
            else:
                parts = plain(current).split("::")
                key = (parts[-2] if len(parts) > 1 and parts[-2][:1].isupper() else "", "", parts[-1])
            if key and "{" not in current:
                functions.setdefault(key, []).append(where)
    elif " -> " in line and "// scope" in line:
        call, at = CALL.match(line), PLACE.search(line)
        if call and at and not at.group(1).startswith("/"):
            sites.append((call.group(1), at.group(1), *map(int, at.groups()[1:])))

# Methods that a trait only asks for have no body.
for folder, below, names in os.walk(root):
    below[:] = [it for it in below if it not in ("target", ".git")]
    for name in names:
        if name.endswith(".rs"):
            path, trait = os.path.relpath(os.path.join(folder, name), root), None
            for number, line in enumerate(text(path).split("\n"), 1):
                found = re.match(r"\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?trait (\w+)", line)
                trait = found.group(1) if found else None if line.startswith("}") else trait
                method = re.match(r"\s+(?:unsafe )?fn (\w+)", line)
                if trait and method:
                    functions.setdefault((trait, "", method.group(1)), [(path, number)])


def name_at_end(path, first, last_place):
    """The name before the brackets that end an expression, and its line."""
    whole = text(path)
    start, end = offset(path, *first), offset(path, *last_place)
    if end <= start or whole[end - 1] != ")":
        return None
    depth = 0
    for at in range(end - 1, start - 1, -1):
        depth += (whole[at] == ")") - (whole[at] == "(")
        if depth == 0:
            break
    before = whole[start:at].rstrip()
    if before.endswith(">"):
        before = before[: before.rfind("::<")]
    found = re.search(r"(\w+)$", before)
    return (found.group(1), whole.count("\n", 0, start + found.start()) + 1) if found else None


said = set()
for callee, path, line, column, end_line, end_column in sites:
    named = name_at_end(path, (line, column), (end_line, end_column))
    through = re.match(r"<(.*) as (.*)>::(\w+)(?:::<.*>)?$", callee)
    if through:
        of, trait, name = last(through.group(1)), last(through.group(2)), through.group(3)
        keys = [(of, trait, name), (trait, "", name)]
    else:
        parts = plain(callee).split("::")
        name = parts[-1]
        keys = [(parts[-2] if len(parts) > 1 and parts[-2][:1].isupper() else "", "", name)]
    if named is None or named[0] != name:
        continue
    places = next((functions[key] for key in keys if key in functions), [])
    # Several functions of one name in several modules: the compiler knows, its text does not say.
    if len(set(places)) > 1:
        continue
    site = (path, named[1], name, tuple(places))
    if site not in said:
        said.add(site)
        targets = [{"file": it[0], "line": it[1]} for it in places]
        print(json.dumps({"file": path, "line": named[1], "name": name, "targets": targets}))
