"""Packages for npm: the launcher, and one package per platform that holds the binary. No install scripts."""

import json
import pathlib
import shutil
import subprocess

LAUNCHER = pathlib.Path(__file__).with_name("launcher.js")
COMMON = {"license": "MIT OR Apache-2.0", "description": "Memory for AI agents, with a garbage collector"}


def packed(folder, work, package, files):
    """`npm pack` of a folder made of `files`, whose values are the sources and their modes."""
    place = work / package["name"]
    for name, (source, mode) in files.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(mode)
    (place / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder)]
    name = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True).stdout.strip()
    return folder / name


def make_platform(root, folder, work, platform, binary, version):
    package = COMMON | {
        "name": platform.npm_name, "version": version, "os": [platform.npm_os], "cpu": [platform.npm_cpu],
        "files": ["bin"],
    }
    files = {"bin/rootset": (binary, 0o755), "LICENSE-MIT": (root / "LICENSE-MIT", 0o644),
             "LICENSE-APACHE": (root / "LICENSE-APACHE", 0o644)}
    return packed(folder, work, package, files)


def make_launcher(root, folder, work, platforms, version):
    package = COMMON | {
        "name": "rootset", "version": version, "bin": {"rootset": "bin/rootset.js"}, "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {platform.npm_name: version for platform in platforms},
    }
    files = {"bin/rootset.js": (LAUNCHER, 0o755), "README.md": (root / "README.md", 0o644),
             "LICENSE-MIT": (root / "LICENSE-MIT", 0o644), "LICENSE-APACHE": (root / "LICENSE-APACHE", 0o644)}
    return packed(folder, work, package, files)


def install(packages, place):
    """Into an empty folder, from the files alone and without scripts; answers the folder of the command."""
    (place / "package.json").write_text("{}")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--offline"]
    subprocess.run([*command, *map(str, packages)], cwd=place, check=True)
    return place / "node_modules" / ".bin"
