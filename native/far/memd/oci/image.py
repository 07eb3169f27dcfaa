#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# image.py PROGRAM OUT.tar: an OCI image of one file, lull-memd, without a container engine. image.sh builds the program first.
#
# podman load, docker load and skopeo take it. The same program gives the same image, byte for byte.

import hashlib
import io
import json
import pathlib
import struct
import sys
import tarfile

# As in the Dockerfile.
USER = "65532:65532"
ENTRYPOINT = ["/lull-memd"]
PORT = "7070/tcp"

PT_INTERP = 3


def check(program):
    """Fails unless it is for x86-64, and needs no other file to run."""
    if program[:4] != b"\x7fELF" or struct.unpack_from("<H", program, 18)[0] != 62:
        sys.exit("it is no program for x86-64")
    (offset,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<I", program, offset + size * at)[0] for at in range(count)]
    if PT_INTERP in kinds:
        sys.exit("it is linked dynamically, and the image has no libraries: native/far/memd/oci/image.sh builds one that is not")


def add(archive, name, content, mode):
    """A file of root's, of no time."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))


def tar(files, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            add(archive, name, content, mode)
    return out.getvalue()


def image(program):
    layer = tar({"lull-memd": program}, 0o555)
    blobs = {}

    def blob(kind, content):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}

    kind = "application/vnd.oci.image"
    config = blob(f"{kind}.config.v1+json", {
        "architecture": "amd64",
        "os": "linux",
        "config": {"User": USER, "Entrypoint": ENTRYPOINT, "ExposedPorts": {PORT: {}}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    })
    manifest = blob(f"{kind}.manifest.v1+json", {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": config,
        "layers": [blob(f"{kind}.layer.v1.tar", layer)],
    })
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "lull-memd:latest"}
    index = {"schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [manifest]}
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index, sort_keys=True).encode()}
    return tar(files | dict(sorted(blobs.items())), 0o444)


def main():
    if len(sys.argv) != 3:
        sys.exit("say image.py PROGRAM OUT.tar")
    program = pathlib.Path(sys.argv[1]).read_bytes()
    check(program)
    pathlib.Path(sys.argv[2]).write_bytes(image(program))


main()
