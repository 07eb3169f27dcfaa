#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
"""Writes the golden frames from docs/reference/far-memory-protocol.md alone: a second implementation, which shares no code with the first.

make.py writes the files beside itself; make.py --check says whether they are what it would write. One file is one frame, in
hexadecimal, the header in the first line, the payload in the others.
"""
import hashlib, hmac, pathlib, struct, sys


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


def hello(kind, features=0, version=1):
    return struct.pack("<HHBBHQQ16s", version, version, 12, kind, 0, 1, features, client)


def hello_ack(features=0, version=1):
    return struct.pack("<HBBIQ16sQQ", version, 12, 0, 256, features, session, 1 << 30, 1 << 29)


# Keys: HKDF (RFC 5869) and HMAC, both with SHA-256.
def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def derive(salt, secret, info, length):
    return mac(mac(salt, secret), info + b"\x01")[:length]


# X25519 (RFC 7748), as the standard has it, and slow.
def x25519(secret, point):
    prime, scalar = 2**255 - 19, bytearray(secret)
    scalar[0], scalar[31] = scalar[0] & 248, scalar[31] & 127 | 64
    scalar, u = int.from_bytes(scalar, "little"), int.from_bytes(point, "little") & 2**255 - 1
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for bit in (scalar >> i & 1 for i in range(254, -1, -1)):
        if bit != swap:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        x3, z3 = pow(d * a + c * b, 2, prime), u * pow(d * a - c * b, 2, prime) % prime
        x2, z2 = a * a * b * b % prime, (a * a - b * b) * (a * a + 121665 * (a * a - b * b)) % prime
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, prime - 2, prime) % prime).to_bytes(32, "little")


# The standard's own example, after one round.
nine = bytes([9]) + bytes(31)
assert x25519(nine, nine).hex() == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"

key, client_secret, server_secret = bytes(range(100, 132)), bytes(range(32, 64)), bytes(range(64, 96))
client_nonce, challenge = x25519(client_secret, nine), x25519(server_secret, nine)
agreed = x25519(client_secret, challenge)
assert agreed == x25519(server_secret, client_nonce)
key_id = derive(b"lull-far 1", key, b"key id", 16)
said = hello(0, 1, 3) + challenge + key_id + client_nonce
client_proof = mac(derive(client_nonce + challenge, key, b"lull-far 1 client", 32), said)
server_proof = mac(derive(client_nonce + challenge, key, b"lull-far 1 server", 32), said + client_proof + hello_ack(1, 3))


# AES-128 (FIPS 197) in Galois/counter mode (SP 800-38D), as the standards have it, and slow.
def double(a):
    return a << 1 ^ (0x11B if a & 0x80 else 0)


def times(a, b):
    return 0 if b == 0 else (a if b & 1 else 0) ^ times(double(a), b >> 1)


def substituted(a):
    inverse = next((b for b in range(256) if times(a, b) == 1), 0)
    return 0x63 ^ inverse ^ (inverse * 0x101 >> 7 ^ inverse * 0x101 >> 6 ^ inverse * 0x101 >> 5 ^ inverse * 0x101 >> 4) & 0xFF


box = [substituted(a) for a in range(256)]


def encrypt_block(secret, block):
    words, constant = [list(secret[i : i + 4]) for i in range(0, 16, 4)], 1
    while len(words) < 44:
        last = words[-1]
        if len(words) % 4 == 0:
            last = [box[b] for b in last[1:] + last[:1]]
            last[0] ^= constant
            constant = double(constant)
        words.append([a ^ b for a, b in zip(words[-4], last)])
    keys = [sum(words[i : i + 4], []) for i in range(0, 44, 4)]
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number in range(1, 11):
        state = [box[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 10:
            columns = [state[i : i + 4] for i in range(0, 16, 4)]
            state = [times(c[i], 2) ^ times(c[(i + 1) % 4], 3) ^ c[(i + 2) % 4] ^ c[(i + 3) % 4] for c in columns for i in range(4)]
        state = [a ^ b for a, b in zip(state, keys[number])]
    return bytes(state)


def multiplied(x, y):
    z = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            z ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return z


def sealed(secret, nonce, associated, text):
    counter = lambda n: encrypt_block(secret, nonce + struct.pack(">I", n))
    stream = b"".join(counter(2 + n) for n in range((len(text) + 15) // 16))
    text = bytes(a ^ b for a, b in zip(text, stream))
    padded = lambda data: data + bytes(-len(data) % 16)
    data, h, y = padded(associated) + padded(text) + struct.pack(">QQ", 8 * len(associated), 8 * len(text)), encrypt_block(secret, bytes(16)), 0
    for i in range(0, len(data), 16):
        y = multiplied(y ^ int.from_bytes(data[i : i + 16], "big"), int.from_bytes(h, "big"))
    return text + bytes(a ^ b for a, b in zip(y.to_bytes(16, "big"), counter(1)))


# The third and fourth cases of the mode's own document: who changes this file sees at once whether it is still that mode.
check = bytes.fromhex("feffe9928665731c6d6a8f9467308308"), bytes.fromhex("cafebabefacedbaddecaf888")
assert encrypt_block(bytes(16), bytes(16)).hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"
assert sealed(*check, bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2"), bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
))[-16:].hex() == "5bc94fbc3221a5db94fae95ae7121a47"


def encrypted(direction, number, op, sequence, region, payload=b""):
    derived = derive(client_nonce + challenge, key + agreed, b"lull-far 3 to " + direction + server_proof, 32)
    head = b"LulF" + struct.pack("<HBBQIII", 3, op, 0, sequence, region, len(payload), 0)
    head += struct.pack("<I", crc32c(head))
    nonce = bytes(a ^ b for a, b in zip(derived[16:28], bytes(4) + struct.pack("<Q", number)))
    return head + sealed(derived[:16], nonce, head, payload)


def write(numbers):
    return struct.pack("<II", len(numbers), 0) + b"".join(struct.pack("<Q", n) for n in numbers) + b"".join(map(page, numbers))


# Tracing: a heap of 1 MB at 0x80000000 on two servers at 10.0.0.1 and fd00::2, both at port 7070.
def server(address, port=7070):
    return address + struct.pack("<H6x", port)


def counted(number, count):
    return struct.pack("<QII", number, count, 0)


layouts = struct.pack("<II", 5, 0) + b"".join(
    struct.pack("<IBBHIII", klass, kind, c, len(blocks), size, a, b) + b"".join(struct.pack("<II", *block) for block in blocks)
    for klass, kind, c, size, a, b, blocks in [
        (10, 0, 0, 24, 0, 0, [(12, 2)]),
        (11, 1, 0, 32, 12, 0, [(16, 2)]),
        (12, 2, 11, 112, 40, 112, [(12, 1), (48, 3)]),
        (13, 3, 0, 16, 16, 0, []),
        (14, 4, 0, 16, 0, 0, []),
    ]
)
start = struct.pack("<QQQQQBBB5x", 3, 0x80000000, 1 << 20, 4 << 20, 0, 3, 2, 1) + bytes(range(0x70, 0x80))
start += server(bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1])) + server(b"\xfd" + bytes(14) + b"\x02")
ghost = counted(3, 3) + struct.pack("<QII", 0x80000100, 0, 0) + struct.pack("<QII", 0x80000200, 1, 7) + struct.pack("<QII", 0x80000300, 2, 12)

frames = {
    "hello-control": frame(1, 1, 0, hello(0)),
    "hello-fetch": frame(1, 1, 0, hello(1)),
    "hello-write": frame(1, 1, 0, hello(2)),
    "hello-ack": frame(2, 1, 0, hello_ack()),
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
    "leave": frame(22, 5, 0),
    "hello-peer": frame(1, 1, 0, hello(3)),
    "layout": frame(32, 3, 0, layouts),
    "need-layout": frame(33, 3, 0, struct.pack("<IIII", 2, 0, 11, 12)),
    "trace-start": frame(34, 3, 5, start),
    "trace-roots": frame(35, 3, 0, struct.pack("<IIQQ", 2, 0, 0x80000010, 0x80000020)),
    "ghost": frame(37, 3, 0, ghost),
    "ghost-ack": frame(38, 3, 0, counted(3, 3)),
    "poll": frame(39, 3, 0, struct.pack("<Q", 9)),
    "status": frame(40, 3, 0, struct.pack("<QQQQ", 9, 1, 5, 6)),
    "trace-end": frame(41, 3, 0),
    "live-stats": frame(43, 3, 0, struct.pack("<QQQQQQ", 3, 100, 200, 5, 6, 1000)),
    "read-bitmap": frame(48, 3, 0, counted(64, 2)),
    "bitmap": frame(42, 3, 0, counted(64, 2) + struct.pack("<QQ", 1, 1 << 63)),
    "read-discovered": frame(49, 3, 0, counted(0, 2)),
    "trace-old": frame(50, 3, 0, counted(64, 2) + struct.pack("<QQ", 1, 1 << 63)),
    "read-lines": frame(51, 3, 0, counted(64, 2)),
    "lines": frame(52, 3, 0, counted(64, 2) + struct.pack("<QQ", 1, 1 << 63)),
    "read-live": frame(53, 3, 0, counted(64, 2)),
    "live": frame(54, 3, 0, counted(64, 2) + struct.pack("<QQ", 4096, 7 << 48)),
    "hello-key": frame(1, 1, 0, hello(0, 1, 3)),
    "challenge": frame(19, 1, 0, challenge),
    "prove": frame(20, 2, 0, key_id + client_nonce + client_proof),
    "proved": frame(21, 2, 0, server_proof + hello_ack(1, 3)),
    # Of that handshake, each as the first and the second of its direction.
    "encrypted-fetch": encrypted(b"server", 0, 5, 3, 5, struct.pack("<QII", 3, 2, 0)),
    "encrypted-heartbeat": encrypted(b"server", 1, 13, 4, 0),
    "encrypted-data": encrypted(b"client", 0, 6, 3, 5, struct.pack("<QII", 3, 2, 0) + page(3) + page(4)),
    "encrypted-heartbeat-ack": encrypted(b"client", 1, 14, 4, 0, struct.pack("<QQQ", 1 << 30, 1 << 29, 0)),
    "discovered": frame(44, 3, 0, counted(0, 2) + struct.pack("<QQ", 0x80000100, 0x80000200)),
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
