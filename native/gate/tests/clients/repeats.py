# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# urllib3 as it comes, as Repeats.java uses its clients: python3 repeats.py PORT SECONDS. It repeats a GET that has Retry-After in its answer.

import sys
import time

import urllib3

port, seconds = (int(word) for word in sys.argv[1:3])
end = time.monotonic() + seconds
pool = urllib3.PoolManager()
n = 0
while time.monotonic() < end:
    target = f"/urllib3/{n}"
    try:
        status = pool.request("GET", f"http://127.0.0.1:{port}{target}").status
        how = {200: "ok", 503: "busy"}.get(status, f"status {status}")
    except urllib3.exceptions.MaxRetryError as error:
        how = "busy" if "too many 503 error responses" in str(error) else repr(error)
    print(target, how, flush=True)
    n += 1
