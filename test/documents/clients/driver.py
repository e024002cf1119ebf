"""Reads jobs from standard input, one a line, and writes their results: see clients.test.ts."""

import contextlib
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples/clients/python"))
import plant_store_client as library  # noqa: E402

clients = {}  # one for each key, as in a program that creates several plants
lock = threading.Lock()


def client_of(job):
    tokens = list(job["tokens"])

    def token():
        return tokens.pop(0) if len(tokens) > 1 else tokens[0]

    with lock:
        if job["key"] not in clients:
            clients[job["key"]] = library.PlantStoreClient(
                job["address"], token, retry_for=job["retryFor"], timeout=job["timeout"]
            )
        return clients[job["key"]]


def run(job):
    if job.get("defaults"):
        times = library.PlantStoreClient.__init__.__kwdefaults__
        return write(job, {"message": f"{times['retry_for']:g} {times['timeout']:g}"})
    fields = job["plant"]
    if "malformed" in job:
        fields[job["malformed"]] = "\ud800"
    plant = library.Plant(int(fields["id"]), fields["name"], fields.get("tag"))
    client = client_of(job)
    try:
        with client if job.get("closing") else contextlib.nullcontext():
            (client.create_again if job.get("again") else client.create)(plant)
        result = {"outcome": "stored"}
    except library.PlantStoreError as failure:
        result = {
            "outcome": type(failure).__name__,
            "error": failure.error,
            "status": failure.status,
            "message": str(failure),
            "requestId": failure.request_id,
            "retryAfter": failure.retry_after,
        }
    write(job, {name: value for name, value in result.items() if value is not None})


def write(job, given):
    with lock:
        print(json.dumps({"job": job["number"], **given}), flush=True)


for line in sys.stdin:
    threading.Thread(target=run, args=[json.loads(line)]).start()
