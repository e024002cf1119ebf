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
NOT_STORED = {4080, 5030, 5032}  # the same request can succeed later


def send(address, body):
    """Returns the status, the error number (0 when there is none) and the seconds of Retry-After."""
    headers = {"Authorization": f"Bearer {os.environ['ACCESS_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/plants", body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            response.read()
            return response.status, 0, 0
    except urllib.error.HTTPError as response:
        with response:
            return response.code, error_of(response.read()), int(response.headers.get("Retry-After", 0))


def error_of(text):
    try:
        return json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return 0


def create_plant(address, body):
    unknown = False
    for attempt in range(1, MAX_ATTEMPTS + 1):
        retry_after = 0
        try:
            status, error, retry_after = send(address, body)
            if status == 200 or (error == 4006 and unknown):
                return "stored"
            if error == 5031 or (error == 0 and status >= 500):
                unknown = True
            elif error not in NOT_STORED:
                return "unknown" if unknown else f"refused {error or status}"
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
