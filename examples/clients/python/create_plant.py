"""Creates a plant with a random id: ACCESS_TOKEN=… python3 create_plant.py http://127.0.0.1:3000 'Monstera deliciosa' body.json

The file keeps the body until the outcome is known. After a crash, the next run sends the same body again.
"""

import http.client
import json
import os
import random
import secrets
import sys
import time
import urllib.error
import urllib.request

TIMEOUT = 20  # seconds: longer than the deadline of the service, which is 15 s
MAX_ATTEMPTS = 6
MAX_RETRY_AFTER = 60  # seconds
NOT_STORED = {429, 4080, 5030, 5032}  # the same request can succeed later; a proxy sends 429


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect can lead to a login page, whose status is 200."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def send(address, body):
    """Returns the error number, or the status when the body has none, and the seconds of Retry-After."""
    headers = {"Authorization": f"Bearer {os.environ['ACCESS_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/plants", body, headers, method="POST")
    try:
        with opener.open(request, timeout=TIMEOUT) as response:
            response.read()
            return response.status, 0
    except urllib.error.HTTPError as response:
        with response:
            seconds = response.headers.get("Retry-After", "")  # a proxy may send a date
            retry_after = min(int(seconds), MAX_RETRY_AFTER) if seconds.isdecimal() else 0
            return error_of(response.read()) or response.code, retry_after


def error_of(text):
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return None
    return error if isinstance(error, int) else None


def saved_body(file, name):
    """Saves a body before it is sent, unless an earlier run has done so. Returns it, and whether it may have been sent."""
    may_be_sent = os.path.exists(file)
    if not may_be_sent:
        with open(file + ".new", "w") as new:
            json.dump({"id": secrets.randbits(64) - 2**63, "name": name}, new)
        os.replace(file + ".new", file)
    with open(file, "rb") as saved:
        return saved.read(), may_be_sent


def create_plant(address, body, unknown):
    for attempt in range(1, MAX_ATTEMPTS + 1):
        retry_after = 0
        try:
            code, retry_after = send(address, body)
            if code == 200 or (code == 4006 and unknown):
                return "stored"
            if code == 5031 or 500 <= code <= 599:  # a proxy has no response of the service
                unknown = True
            elif code not in NOT_STORED:
                return "unknown" if unknown else f"refused {code}"
        except (OSError, http.client.HTTPException):  # no connection, a broken one, a time-out
            unknown = True
        if attempt < MAX_ATTEMPTS:
            time.sleep(retry_after + random.random() * 0.1 * 2**attempt)
    return "unknown" if unknown else "not stored"


address, name, file = sys.argv[1:]
body, may_be_sent = saved_body(file, name)
outcome = create_plant(address, body, unknown=may_be_sent)
if outcome == "stored" or outcome.startswith("refused"):
    os.remove(file)
print(json.loads(body)["id"], outcome)
sys.exit(0 if outcome == "stored" else 1)
