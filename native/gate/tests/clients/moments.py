# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Python's clients of HTTP/2, as Moments.java uses its clients:
#
#   python3 moments.py httpx|curl PORT - - BUSY SECONDS MOMENT FILE

import os
import sys
import time

library = sys.argv[1]
BASE = f"http://127.0.0.1:{sys.argv[2]}"
wanted, seconds = int(sys.argv[5]), int(sys.argv[6])
moment, file = sys.argv[7:9]


class Parts:
    """A body: what is sent at once, and what behind it, when the file has got longer."""

    def __init__(self, length):
        now = {"head": 0, "middle": length // 2, "end": length}[moment]
        self.now, self.rest = bytes(now), bytes(length - now)
        self.length, self.before, self.late = length, os.path.getsize(file), False

    def wait(self):
        end = time.monotonic() + 3
        while self.rest and os.path.getsize(file) == self.before and not self.late:
            self.late = time.monotonic() > end
            time.sleep(0.002)

    def __iter__(self):
        if self.now:
            yield self.now
        self.wait()
        if self.rest:
            yield self.rest


def httpx_sender():
    import httpx

    client = httpx.Client(http1=False, http2=True, base_url=BASE, timeout=30)

    def send(target, body):
        try:
            if body is None:
                return client.get(target).status_code
            return client.post(target, content=iter(body), headers={"Content-Length": str(body.length)}).status_code
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
        if body is not None:
            source = {"bytes": body.now, "waits": True}

            def read(count):
                if not source["bytes"] and source["waits"]:
                    source["waits"] = False
                    body.wait()
                    source["bytes"] = body.rest
                some, source["bytes"] = source["bytes"][:count], source["bytes"][count:]
                return some

            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDSIZE, body.length)
            curl.setopt(pycurl.READFUNCTION, read)
            curl.setopt(pycurl.HTTPHEADER, ["Expect:"])
        try:
            curl.perform()
        except pycurl.error as error:
            return repr(error)
        return curl.getinfo(pycurl.RESPONSE_CODE)

    return send


def one(send):
    """What sends one request, as what sends several."""

    def statuses(number, length):
        target, body = f"/{library}/{moment}/{length}/{number}", Parts(length) if length else None
        return [(target, body, send(target, body))]

    return statuses


senders = {"httpx": lambda: one(httpx_sender()), "curl": lambda: one(curl_sender())}
send = senders[library]()
for length in (0, 5, 30_000, 1_000_000):
    if length == 0 and moment != "end":
        continue
    end = time.monotonic() + seconds
    told = number = 0
    while told < wanted and time.monotonic() < end:
        for target, body, status in send(number, length):
            how = {200: "ok", 503: "busy"}.get(status, f"status {status}")
            told += how != "ok"
            print(target, "late" if body and body.late else "-", how)
        number += 1
