// A client of signed calls in plain JavaScript, with code of its own. It stands in the place of the bootstrap: attests by
// the address that it was given, calls tools, and prints what came back.
import { generateKeyPairSync, randomUUID, sign } from "node:crypto";

const url = process.env.SVC_ORCHESTRATOR_URL.replace(/\/+$/, "");

async function post(path, body) {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return [answer.status, await answer.json()];
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const attested = await post("/v1/seal/attest", { public_key: raw.toString("base64"), workload_id: "own-program" });
if (attested[0] !== 200) throw new Error(attested[1].error.message);
const token = attested[1].security_token;

function call(name, given) {
  const payload = { jsonrpc: "2.0", id: randomUUID(), method: "tools/call", params: { name, arguments: given } };
  const timestamp = new Date().toISOString();
  const text = canonical({ payload, security_token: token, timestamp: Math.floor(Date.parse(timestamp) / 1000) });
  const signature = sign(null, Buffer.from(text), privateKey).toString("base64");
  return post("/v1/seal/invoke", { protocol: "seal/v1", payload, security_token: token, signature, timestamp });
}

const written = await call("fs.write", { path: "from-js.txt", content: "grüße 😀\n\u0001" });
const read = await call("fs.read", { path: "from-js.txt", offset: 0 });
const refused = await call("svc.system.info", { "😀": 1, "\ufffd": 2 });
console.log(JSON.stringify({ written: written[1], read: read[1], refused: [refused[0], refused[1].error.message] }));
