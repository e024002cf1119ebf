"""Creates a plant with a random id: ACCESS_TOKEN=… python3 create_plant.py http://127.0.0.1:3000 'Monstera deliciosa'"""

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
            return error_of(response.read()) or response.code, int(seconds) if seconds.isdecimal() else 0


def error_of(text):
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return None
    return error if isinstance(error, int) else None


def create_plant(address, body):
    unknown = False
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


address, name = sys.argv[1:]
plant_id = secrets.randbits(64) - 2**63
outcome = create_plant(address, json.dumps({"id": plant_id, "name": name}).encode())
print(plant_id, outcome)
sys.exit(0 if outcome == "stored" else 1)
