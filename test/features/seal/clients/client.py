"""A client of signed calls with Python's standard library and the openssl command alone.

It stands in the place of the bootstrap: attests by the address that it was given, calls tools, and prints what came back.
"""

import base64
import datetime
import json
import os
import subprocess
import urllib.error
import urllib.request
import uuid

URL = os.environ["SVC_ORCHESTRATOR_URL"].rstrip("/")
KEY = "/tmp/agent-key.pem"


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


def post(path, body):
    data = json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data=data, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sign(text):
    with open("/tmp/message", "wb") as file:
        file.write(text.encode())
    return openssl("pkeyutl", "-sign", "-inkey", KEY, "-rawin", "-in", "/tmp/message")


def call(token, name, arguments):
    payload = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    now = datetime.datetime.now(datetime.timezone.utc)
    signed = {"payload": payload, "security_token": token, "timestamp": int(now.timestamp())}
    envelope = {
        "protocol": "seal/v1",
        "payload": payload,
        "security_token": token,
        "signature": base64.b64encode(sign(canonical(signed))).decode(),
        "timestamp": now.isoformat(),
    }
    return post("/v1/seal/invoke", envelope)


openssl("genpkey", "-algorithm", "ed25519", "-out", KEY)
public = openssl("pkey", "-in", KEY, "-pubout").decode()
status, session = post("/v1/seal/attest", {"public_key": public, "workload_id": os.uname().nodename, "security_context": ""})
if status != 200:
    raise SystemExit(session["error"]["message"])
token = session["security_token"]
written = call(token, "fs.write", {"path": "from-python.txt", "content": "grüße \U0001F600\n\u0001"})
read = call(token, "fs.read", {"path": "from-python.txt", "offset": 0})
refused = call(token, "svc.system.info", {"n": 1.0})
print(json.dumps({"written": written[1], "read": read[1], "refused": [refused[0], refused[1]["error"]["message"]]}))
