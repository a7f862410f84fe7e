/** The checks of an envelope, in their order: every one of them passed before a tool is looked at. */
import { createHash } from "node:crypto";
import { canonicalText } from "../../../../actors/seal/canonical.ts";
import { type Envelope, readEnvelope, signedTexts } from "../../../../actors/seal/envelope.ts";
import { MalformedText, type Members } from "../../../../actors/seal/json-text.ts";
import { type RpcFault, type RpcRequest, readRpc } from "../../../../actors/seal/rpc.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { isSigned } from "../../../lib/ed25519.ts";
import type { Masker } from "../../../lib/masking/masker.ts";
import type { Admission, Admit, CallOnRecord } from "./admission.ts";
import type { LiveSessions, Session, SessionFault } from "./session.ts";

export interface ChecksOptions {
  readonly sessions: LiveSessions;
  readonly admit: Admit;
  /** How a session and its execution stand now, by their rows. */
  readonly standing: (session: Session) => Promise<"active" | "session_inactive" | "execution_not_running">;
  readonly tenants: Pick<Tenants, "status">;
  /** What hides the values that an execution was given; null: it was given none. */
  readonly maskerOf: (session: Session) => Promise<Masker | null>;
  /** Unix ms by PostgreSQL's clock. @throws Problem 503 while it is not known */
  readonly databaseNow: () => number;
  /** SVC_SEAL_MAX_AGE_SECONDS */
  readonly maxAgeSeconds: number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

/** Why an envelope is refused. */
export type EnvelopeFault =
  | SessionFault
  | Exclude<Admission, "admitted">
  | "malformed_envelope"
  | "timestamp_out_of_window"
  | "invalid_signature"
  | "tenant_suspended";

export class EnvelopeRefused extends Error {
  override readonly name = "EnvelopeRefused";
  constructor(
    readonly code: EnvelopeFault,
    message: string,
    /** Null: not known yet. */
    readonly session: Session | null = null,
    readonly rpc: RpcRequest | RpcFault | null = null,
  ) {
    super(message);
  }
}

/** An envelope that passed. */
export interface Admitted {
  readonly session: Session;
  readonly rpc: RpcRequest | RpcFault;
  /** Of the record. */
  readonly invocationId: string;
}

const messages: Readonly<Record<Exclude<EnvelopeFault, "malformed_envelope">, string>> = {
  invalid_token: "The security token is not valid",
  token_expired: "The security token has expired",
  session_not_found: "There is no session of this token",
  session_inactive: "The session has ended",
  execution_not_running: "The session's execution is not running",
  tenant_suspended: "The tenant is suspended",
  timestamp_out_of_window: "The timestamp is too far from the time of the service",
  invalid_signature: "The signature is not one over these bytes by the session's key",
  rate_limited: "The session has tried too many tool calls in a short time",
  replay_detected: "The envelope has been here before",
};

/** Bytes of arguments on record. */
const keptArgumentBytes = 16_384;

/** @returns checks one envelope @throws EnvelopeRefused, and Problem 503 */
export function createChecks(options: ChecksOptions) {
  const { sessions, admit, standing, tenants, databaseNow, maxAgeSeconds } = options;

  async function requireTenant(session: Session): Promise<void> {
    if (!session.detached) return;
    const status = await tenants.status(session.tenant);
    if (status === "suspended") throw refused("tenant_suspended", session);
    if (status === "deleted") throw refused("session_inactive", session);
  }

  /** A session is remembered; one that has ended meanwhile is refused for that, not for what else is wrong. */
  async function wrong(code: EnvelopeFault, session: Session, rpc: RpcRequest | RpcFault): Promise<EnvelopeRefused> {
    const now = await standing(session);
    return refused(now === "active" ? code : now, session, rpc);
  }

  return async (bytes: Uint8Array, requestId: string): Promise<Admitted> => {
    const envelope = read(bytes);
    const now = Math.floor(databaseNow() / 1000);
    const session = await sessions.of(envelope.securityToken, now);
    const rpc = readRpc(envelope.payload);
    if (typeof session === "string") throw refused(session, null, rpc);
    await requireTenant(session);
    if (Math.abs(now - envelope.timestamp) > maxAgeSeconds) throw await wrong("timestamp_out_of_window", session, rpc);
    if (!isSigned(session.key, signedTexts(envelope), envelope.signature)) {
      throw await wrong("invalid_signature", session, rpc);
    }
    const invocationId = options.newId();
    const call = "tool" in rpc ? onRecord(rpc.tool, rpc.arguments, await options.maskerOf(session)) : null;
    const asked = { id: invocationId, sessionId: session.id, signature: envelope.signature, call, requestId };
    const admission = await admit(asked);
    if (admission === "admitted") return { session, rpc, invocationId };
    if (admission !== "rate_limited" && admission !== "replay_detected") sessions.forget(envelope.securityToken);
    throw refused(admission, session, rpc);
  };
}

function read(bytes: Uint8Array): Envelope {
  try {
    return readEnvelope(bytes);
  } catch (error) {
    if (error instanceof MalformedText) throw new EnvelopeRefused("malformed_envelope", error.message);
    throw error;
  }
}

const refused = (
  code: Exclude<EnvelopeFault, "malformed_envelope"> | EnvelopeFault,
  session: Session | null,
  rpc: RpcRequest | RpcFault | null = null,
): EnvelopeRefused =>
  new EnvelopeRefused(code, code === "malformed_envelope" ? "The envelope is none" : messages[code], session, rpc);

/** Numbers stand as they were received. */
function onRecord(tool: string, given: Members, masker: Masker | null): CallOnRecord {
  const text = canonicalText(given);
  const shown = masker === null ? text : masker.mask(text);
  return {
    tool_name: tool.replaceAll("\0", ""),
    arguments: cut(shown.replaceAll("\\u0000", "")),
    arguments_sha256: createHash("sha256").update(text).digest("hex"),
  };
}

function cut(text: string): string {
  if (text.length * 3 <= keptArgumentBytes || Buffer.byteLength(text) <= keptArgumentBytes) return text;
  return Buffer.from(text).subarray(0, keptArgumentBytes).toString().replace(/�+$/, "");
}
