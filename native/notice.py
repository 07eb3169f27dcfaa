#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# NOTICE: what of others is built into the Rust programs, by cargo's own account.
#
#   notice.py > ../NOTICE   writes it
#   notice.py --check       fails unless it is what it would be written as

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NOTICE = HERE.parent / "NOTICE"

HEAD = """\
Lull, Copyright its authors, GPL-2.0-only WITH Classpath-exception-2.0: LICENSE.

The JDK that it builds has OpenJDK's own notices below its directory legal/. The programs and libraries
that are built from native/ contain parts of these crates of others, or are built by them. Each comes
with its licence's text in its source, at https://crates.io/crates/NAME/VERSION.

lull-stall and lull-budget contain btf-rs, which is under the GNU Lesser General Public License, version
2.1 or later. Its source is at the address above, and native/ is all that is needed to build both with
another version of it.

crate                           version       licence
"""


def crates():
    """Those that anything of ours is built from; not what only tests need."""
    text = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"],
        cwd=HERE, check=True, capture_output=True, text=True,
    ).stdout
    metadata = json.loads(text)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen, todo = set(), list(metadata["workspace_members"])
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            kinds = ((dep["pkg"], {kind["kind"] for kind in dep["dep_kinds"]}) for dep in nodes[current]["deps"])
            todo += [package for package, kind in kinds if kind - {"dev"}]
    return sorted((p["name"], p["version"], p["license"]) for p in (packages[i] for i in seen) if p["source"])


def main():
    text = HEAD + "".join(f"{name:<31} {version:<13} {licence}\n" for name, version, licence in crates())
    if "--check" not in sys.argv:
        sys.stdout.write(text)
    elif not NOTICE.exists() or NOTICE.read_text() != text:
        sys.exit("NOTICE does not name the crates that Cargo.lock has: write it anew with native/notice.py > NOTICE")


main()
