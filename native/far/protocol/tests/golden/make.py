#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
"""Writes the golden frames from docs/far-memory-protocol.md alone: a second implementation, which shares no code with the first.

make.py writes the files beside itself; make.py --check says whether they are what it would write. One file is one frame, in
hexadecimal, the header in the first line, the payload in the others.
"""
import pathlib, struct, sys


def crc32c(data, table=[]):
    if not table:
        for i in range(256):
            for _ in range(8):
                i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
            table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def frame(op, sequence, region, payload=b"", version=1):
    head = b"LulF" + struct.pack("<HBBQIII", version, op, 0, sequence, region, len(payload), crc32c(payload))
    return head + struct.pack("<I", crc32c(head)) + payload


def page(number):
    return bytes((number * 131 + i * 7 + (i >> 8)) & 0xFF for i in range(4096))


client, session = bytes(range(16)), bytes(range(16, 32))


def hello(kind):
    return struct.pack("<HHBBHQQ16s", 1, 1, 12, kind, 0, 1, 0, client)


def write(numbers):
    return struct.pack("<II", len(numbers), 0) + b"".join(struct.pack("<Q", n) for n in numbers) + b"".join(map(page, numbers))


frames = {
    "hello-control": frame(1, 1, 0, hello(0)),
    "hello-fetch": frame(1, 1, 0, hello(1)),
    "hello-write": frame(1, 1, 0, hello(2)),
    "hello-ack": frame(2, 1, 0, struct.pack("<HBBIQ16sQQ", 1, 12, 0, 256, 0, session, 1 << 30, 1 << 29)),
    "region-map": frame(3, 2, 5, struct.pack("<Q", 16)),
    "region-mapped": frame(4, 2, 5, struct.pack("<Q", 16)),
    "write": frame(7, 2, 5, write([3, 4])),
    "write-ack": frame(8, 2, 5, struct.pack("<II", 2, crc32c(page(3) + page(4)))),
    "fetch": frame(5, 2, 5, struct.pack("<QII", 3, 2, 0)),
    "data": frame(6, 2, 5, struct.pack("<QII", 3, 2, 0) + page(3) + page(4)),
    "fence": frame(9, 3, 0),
    "fence-ack": frame(10, 3, 0),
    "discard": frame(11, 4, 5, struct.pack("<QQ", 3, 1)),
    "discard-ack": frame(12, 4, 5, struct.pack("<QQ", 3, 1)),
    "heartbeat": frame(13, 3, 0),
    "heartbeat-ack": frame(14, 3, 0, struct.pack("<QQQ", 1 << 30, 1 << 29, 0)),
    "error": frame(15, 2, 5, struct.pack("<HH", 9, 0) + b"no memory left"),
    "region-unmap": frame(17, 4, 5),
    "region-unmapped": frame(18, 4, 5),
    "bye": frame(16, 5, 0),
}


def text(data):
    lines = [data[:32]] + [data[i : i + 64] for i in range(32, len(data), 64)]
    return "".join(line.hex() + "\n" for line in lines)


here = pathlib.Path(__file__).parent
for name, data in frames.items():
    path = here / (name + ".hex")
    if sys.argv[1:] == ["--check"]:
        if not path.exists() or path.read_text() != text(data):
            sys.exit(f"{path} is not what {sys.argv[0]} writes")
    else:
        path.write_text(text(data))
