/** GitHub: `X-Hub-Signature-256: sha256=<hex>`. The older header with SHA-1 is not read. */
import { eventText, hexText, keyText, member, type Preset, readBodyDigest, textBytes } from "./preset.ts";

const header = "x-hub-signature-256";

export const github: Preset = {
  name: "github",
  readsPayload: false,
  present: (headers) => headers.has(header),
  read: (headers) => readBodyDigest(headers.get(header) ?? ""),
  signedKey: () => null,
  headerKey: (headers) => keyText(headers.get("x-github-delivery")),
  guardsReplays: true,
  canCarryTime: false,
  eventNames(headers, payload) {
    const event = headers.get("x-github-event");
    if (event === null) return [];
    return [...eventText(member(payload, "action")).map((action) => `${event}.${action}`), event];
  },
  handshake: (headers) =>
    headers.get("x-github-event") === "ping"
      ? { status: "pong", stimulus_id: null, workflow_execution_id: null }
      : null,
  secretBytes: textBytes,
  secretText: hexText,
};
