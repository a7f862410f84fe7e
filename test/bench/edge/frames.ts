/** What the pure parts of a link cost: signing, verifying and reading frames, a second on one core. */
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { readBody, readFrame, signedText } from "../../../actors/edge/frame-text.ts";
import { framesUp } from "../../../actors/edge/frames.ts";
import { frameMessage } from "../../../actors/edge/signing.ts";
import { sha256Hex } from "../../../src/lib/digest.ts";
import type { Row } from "../table.ts";

const rounds = 20_000;
const connection = {
  hostId: "0190b3c2-7d4e-7a11-8c22-5f0e6d7a8b90",
  serverNonce: Buffer.alloc(32, 0xa5).toString("base64"),
  clientNonce: Buffer.alloc(32, 0x5a).toString("base64"),
};
const body = JSON.stringify({
  ...{ command_id: connection.hostId, status: "ok", exit_code: 0, duration_ms: 12 },
  started_at: "2026-01-01T00:00:00.000Z",
  ...{ stdout_tail: " 10:15:01 up 3 days,  2:11,  0 users\n", stderr_tail: "", stdout_bytes: 38, stderr_bytes: 0 },
  ...{ truncated: false, structured: null, error_kind: null, error_message: null },
});

export function frameRows(): Row[] {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const message = Buffer.from(frameMessage("up", connection, "result", 2, sha256Hex(body)));
  const signature = sign(null, message, privateKey);
  const signed = (b: string) => {
    const text = frameMessage("up", connection, "result", 2, sha256Hex(b));
    return signedText("result", 2, b, sign(null, Buffer.from(text), privateKey).toString("base64"), null);
  };
  const text = signed(body);
  const read = () => {
    const frame = readFrame(text);
    if (frame?.signature === null || frame === null) throw new Error("it is a signed frame");
    const seen = frameMessage("up", connection, frame.t, frame.signature.s, sha256Hex(frame.b));
    const isSound = verify(null, Buffer.from(seen), publicKey, frame.signature.bytes);
    return isSound && readBody(framesUp.result, frame.b) !== null;
  };
  if (!read()) throw new Error("the frame reads");
  const row = (name: string, value: () => unknown, floor: () => unknown, floorIs: string): Row => ({
    ...{ name, unit: "/s", value: perSecond(value), floor: perSecond(floor), floorIs },
    ...{ goal: "–", note: `by CPU time of one core, a result of ${body.length} bytes` },
  });
  return [
    row(
      "frames signed and written",
      () => signed(body),
      () => sign(null, message, privateKey),
      "Ed25519 signing alone",
    ),
    row("frames read and verified", read, () => verify(null, message, publicKey, signature), "Ed25519 verifying alone"),
    row(
      "frames read without verifying",
      () => readFrame(text) !== null && readBody(framesUp.result, body) !== null,
      () => JSON.parse(JSON.parse(text).b),
      "JSON.parse of the message and of its body",
    ),
  ];
}

function perSecond(work: () => unknown): number {
  for (let round = 0; round < rounds / 10; round++) work();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) work();
  const { user, system } = process.cpuUsage(before);
  return (rounds * 1_000_000) / (user + system);
}
