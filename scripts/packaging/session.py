"""The first session of the README, run with a command that was just installed, in an empty home."""

import os
import re
import subprocess

ELLIPSIS = "…"


def steps(readme):
    """The commands of its first console block, each with the lines it prints."""
    block = re.search(r"```console\n(.*?)```", readme, re.S).group(1)
    parts = re.split(r"^\$ ", block, flags=re.M)[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


def run(readme, folder, home):
    """Answers what is wrong, in words; nothing where the session prints what it should."""
    environment = {"HOME": str(home), "PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}
    found = subprocess.run(["sh", "-c", "command -v rootset"], env=environment, capture_output=True, text=True)
    if not found.stdout.startswith(str(folder)):
        return f"`rootset` is {found.stdout.strip() or 'not found'}, not the one in {folder}"
    # The README says nothing about a new database.
    subprocess.run(["rootset", "stats", "--quiet"], env=environment, cwd=home, check=True, capture_output=True)
    for command, expected in steps(readme):
        done = subprocess.run(["sh", "-c", command], env=environment, cwd=home, capture_output=True, text=True)
        printed = done.stdout + done.stderr
        pattern = ".*?".join(re.escape(part) for part in expected.split(ELLIPSIS))
        if done.returncode != 0 or not re.fullmatch(pattern, printed):
            return f"`{command}` printed:\n{printed}instead of:\n{expected}"
    return None
