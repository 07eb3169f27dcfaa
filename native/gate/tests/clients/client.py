# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Python's clients of HTTP/2, as Clients.java uses its clients: python3 client.py httpx|curl PORT BUSY SECONDS. One keeps its connection.

import sys
import time

library = sys.argv[1]
port, wanted, seconds = (int(word) for word in sys.argv[2:5])
BASE = f"http://127.0.0.1:{port}"
END = time.monotonic() + seconds


def httpx_sender():
    import httpx

    client = httpx.Client(http1=False, http2=True, base_url=BASE, timeout=120)

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


send = {"httpx": httpx_sender, "curl": curl_sender}[library]()
for body in (0, 5, 30_000, 1_000_000):
    busy = n = 0
    while busy < wanted and time.monotonic() < END:
        target = f"/{library}/{body}/{n}"
        status = send(target, body)
        how = {200: "ok", 503: "busy"}.get(status, f"status {status}")
        busy += how == "busy"
        n += 1
        print(target, how)
