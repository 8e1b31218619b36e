"""A wheel whose only content is the binary, as a command. Equal files give equal bytes."""

import base64
import hashlib
import pathlib
import subprocess
import sys
import time
import zipfile

METADATA = """Metadata-Version: 2.4
Name: rootset
Version: {version}
Summary: Memory for AI agents, with a garbage collector
License-Expression: MIT OR Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""
WHEEL = """Wheel-Version: 1.0
Generator: rootset scripts/release
Root-Is-Purelib: false
{tags}
"""


def tags(compressed):
    """The tags of a name, one by one: `py3-none-a.b` is `py3-none-a` and `py3-none-b`."""
    python, abi, platforms = compressed.split("-")
    return "\n".join(f"Tag: {python}-{abi}-{platform}" for platform in platforms.split("."))


def make(root, folder, platform, binary, version, epoch):
    info = f"rootset-{version}.dist-info"
    readme = (root / "README.md").read_text()
    files = [
        (f"rootset-{version}.data/scripts/rootset", pathlib.Path(binary).read_bytes(), 0o755),
        (f"{info}/METADATA", METADATA.format(version=version, readme=readme).encode(), 0o644),
        (f"{info}/WHEEL", WHEEL.format(tags=tags(platform.wheel_tag)).encode(), 0o644),
    ]
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    wheel = folder / f"rootset-{version}-{platform.wheel_tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as zipped:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, data)
    return wheel


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def install(wheel, place):
    """Into an environment of its own, from the file alone; answers the folder of the command."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    command = [str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*command, "--disable-pip-version-check", str(wheel)], check=True)
    return place / "bin"
