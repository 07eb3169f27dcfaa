# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Python's clients of HTTP/2, and nghttp2's own, as Clients.java uses its clients: python3 client.py httpx|curl|nghttp2 PORT BUSY SECONDS. One
# keeps its connection; nghttp2's (h2load) is a program that sends many requests, one after the other on a connection of its own.

import pathlib
import subprocess
import sys
import tempfile
import time

library = sys.argv[1]
port, wanted, seconds = (int(word) for word in sys.argv[2:5])
BASE = f"http://127.0.0.1:{port}"
END = time.monotonic() + seconds


def httpx_sender():
    import httpx

    # A body that is not taken to its end has it wait for so long.
    client = httpx.Client(http1=False, http2=True, base_url=BASE, timeout=30)

    def send(target, body):
        try:
            return client.post(target, content=bytes(body)).status_code if body else client.get(target).status_code
        except httpx.HTTPError as error:
            return repr(error)

    return send


def curl_sender():
    import pycurl

    curl = pycurl.Curl()

    def send(target, body):
        curl.reset()
        curl.setopt(pycurl.URL, BASE + target)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        curl.setopt(pycurl.TIMEOUT, 120)
        curl.setopt(pycurl.WRITEFUNCTION, lambda _: None)
        if body:
            curl.setopt(pycurl.POSTFIELDS, bytes(body))
            curl.setopt(pycurl.HTTPHEADER, ["Expect:"])
        try:
            curl.perform()
        except pycurl.error as error:
            return repr(error)
        return curl.getinfo(pycurl.RESPONSE_CODE)

    return send


def nghttp2_statuses(first, body):
    """Targets and statuses of so many requests as are some tenths of a second."""
    targets = [f"/nghttp2/{body}/{n}" for n in range(first, first + (400 if body < 100_000 else 40))]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "targets").write_text("".join(f"{BASE}{target}\n" for target in targets))
        (directory / "body").write_bytes(bytes(body))
        command = ["h2load", "-c", "1", "-m", "1", "-n", str(len(targets)), "-i", "targets", "--log-file=log"]
        subprocess.run(command + (["-d", "body"] if body else []), cwd=directory, check=True, timeout=120, stdout=subprocess.DEVNULL)
        # In order, for there is one at a time: when it began, its status, how long it took.
        statuses = [int(line.split()[1]) for line in (directory / "log").read_text().splitlines()]
    assert len(statuses) == len(targets), f"{len(statuses)} of {len(targets)} requests have an end"
    return list(zip(targets, statuses))


def one(send):
    """What sends one request, as what sends several."""
    return lambda n, body: [(target := f"/{library}/{body}/{n}", send(target, body))]


senders = {"httpx": lambda: one(httpx_sender()), "curl": lambda: one(curl_sender()), "nghttp2": lambda: nghttp2_statuses}
send = senders[library]()
# h2load sends the next head the moment that the last answer has come: with bodies that take long hardly any comes in a pause.
for body in (0, 5, 30_000, 1_000_000) + (() if library == "nghttp2" else (8_000_000,)):
    told = n = 0
    while told < wanted and time.monotonic() < END:
        for target, status in send(n, body):
            how = {200: "ok", 503: "busy"}.get(status, f"status {status}")
            told += how != "ok"
            n += 1
            print(target, how)
