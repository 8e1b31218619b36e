"""The platforms that a release is made for, and how each ecosystem calls them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Platform:
    target: str
    """What `os` and `cpu` say in a package for npm."""
    npm_os: str
    npm_cpu: str
    """A static binary needs no C library: the tags of both kinds of Linux."""
    wheel_tag: str
    """The emulator that runs it on another machine."""
    emulator: str
    """The machine, as Python names it."""
    machine: str

    @property
    def npm_name(self):
        return f"rootset-{self.npm_os}-{self.npm_cpu}"


PLATFORMS = [
    Platform(
        "x86_64-unknown-linux-musl", "linux", "x64",
        "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64", "qemu-x86_64", "x86_64",
    ),
    Platform(
        "aarch64-unknown-linux-musl", "linux", "arm64",
        "py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64", "qemu-aarch64", "aarch64",
    ),
]

# Built by nobody yet: said in the report, so that nobody believes they were checked.
UNCHECKED = [
    "macOS: not built and not run (needs a Mac)",
    "Windows: not built and not run",
    "container image, MCP bundle, plugins, Homebrew, Nix: not made yet",
    "publishing to npm, PyPI and crates.io, and whether the names are free there",
]
