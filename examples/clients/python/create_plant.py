"""Creates a plant with a random id: ACCESS_TOKEN=… python3 create_plant.py http://127.0.0.1:3000 'Monstera deliciosa' body.json

The file keeps the body until the plant is stored or refused. If it exists, its body is sent, and the name is ignored.
"""

import contextlib
import http.client
import json
import os
import random
import secrets
import sys
import time
import urllib.parse

TIMEOUT = 20  # seconds: longer than the deadline of the service, which is 15 s
MAX_ATTEMPTS = 6
MAX_RETRY_AFTER = 60  # seconds
NOT_STORED = {4080, 5030, 5032}  # the same request can succeed later


def send(address, body):
    """Returns the status, the name in the body, the error number or again the status, and the seconds of Retry-After."""
    url = urllib.parse.urlsplit(address)
    connect = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}[url.scheme]
    headers = {"Authorization": f"Bearer {os.environ['ACCESS_TOKEN']}", "Content-Type": "application/json"}
    with contextlib.closing(connect(url.netloc, timeout=TIMEOUT)) as connection:
        connection.request("POST", f"{url.path}/plants", body, headers)
        response = connection.getresponse()  # follows no redirect: it can lead to a login page with status 200
        seconds = response.headers.get("Retry-After", "")  # a proxy may send a date
        retry_after = min(float(seconds), MAX_RETRY_AFTER) if seconds.isdecimal() else 0
        members = members_of(response.read())
        error = members.get("error")  # not a number in a response of a proxy
        code = error if isinstance(error, int) else response.status
        return response.status, members.get("name"), code, retry_after


def members_of(text):
    try:
        members = json.loads(text)
    except ValueError:
        return {}
    return members if isinstance(members, dict) else {}


def saved_body(file, name):
    """Saves a body before it is sent, unless an earlier run has. Returns it, its id, its name, and whether it may have been sent."""
    may_be_sent = os.path.exists(file)
    if not may_be_sent:
        with open(file + ".new", "w") as new:
            json.dump({"id": secrets.randbits(64) - 2**63, "name": name}, new)
        os.replace(file + ".new", file)
    try:
        with open(file, "rb") as saved:
            body = saved.read()
        plant = json.loads(body)
        return body, plant["id"], plant["name"], may_be_sent
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{file}: expected a saved body ({error}). To create another plant, remove the file.")


def create_plant(address, body, name, unknown):
    for attempt in range(1, MAX_ATTEMPTS + 1):
        retry_after = 0
        try:
            status, stored_name, code, retry_after = send(address, body)
            if status == 200 and stored_name == name:
                return "stored"
            elif status < 300:  # a page of a proxy
                unknown = True
            elif code == 4006 and unknown:
                return "stored"
            elif status != 429 and code not in NOT_STORED:
                if code == 5000:  # a bug, which a retry would meet again
                    return "unknown"
                if status < 500:
                    return "unknown" if unknown else f"refused {code}"
                unknown = True
        except (OSError, http.client.HTTPException) as error:  # no connection, a broken one, a time-out
            print("no response:", error, file=sys.stderr)
            unknown = True
        if attempt < MAX_ATTEMPTS:
            time.sleep(retry_after + random.random() * 0.1 * 2**attempt)
    return "unknown" if unknown else "not stored"


if len(sys.argv) != 4 or "ACCESS_TOKEN" not in os.environ:
    sys.exit("usage: ACCESS_TOKEN=… python3 create_plant.py ADDRESS NAME FILE")
address, new_name, file = sys.argv[1:]
body, plant_id, name, may_be_sent = saved_body(file, new_name)
outcome = create_plant(address, body, name, unknown=may_be_sent)
if outcome == "stored" or outcome.startswith("refused"):
    os.remove(file)
print(plant_id, outcome)
sys.exit(0 if outcome == "stored" else 1)
