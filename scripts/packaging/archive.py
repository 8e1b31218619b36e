"""An archive with the binary, the licences and the README, and its checksum. Equal files give equal bytes."""

import gzip
import hashlib
import io
import pathlib
import tarfile

FILES = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]


def make(root, folder, platform, binary, version, epoch):
    name = f"rootset-{version}-{platform.target}"
    content = {"rootset": (pathlib.Path(binary).read_bytes(), 0o755)}
    content |= {file: ((root / file).read_bytes(), 0o644) for file in FILES}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file, (data, mode) in sorted(content.items()):
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mode, entry.mtime = len(data), mode, epoch
            tar.addfile(entry, io.BytesIO(data))
    archive = folder / f"{name}.tar.gz"
    archive.write_bytes(gzip.compress(packed.getvalue(), mtime=epoch))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (folder / f"{archive.name}.sha256").write_text(f"{digest}  {archive.name}\n")
    return archive


def install(archive, place):
    """Unpacks it; answers the folder of the command."""
    with tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
    (folder,) = place.iterdir()
    return folder
