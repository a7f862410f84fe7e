/**
 * Beside its first question the program attests, once: a key made for it ties the instance to its execution, by a session
 * that ends with it. The work does not wait for that, and an attestation that fails is no fault of it.
 */
import { openDoors } from "./doors.ts";

export interface AttestOptions {
  readonly url: URL;
  readonly token: string;
  /** Directory of the nodes' unix sockets; null: over TCP. */
  readonly sockets: string | null;
  /** HOSTNAME: what the sandbox is called; null: it has no name. */
  readonly hostName: string | null;
  readonly timeoutMs?: number;
}

/** What an agent has to sign calls by. Nothing of it leaves this process. */
export interface Attested {
  readonly securityToken: string;
  readonly privateKey: CryptoKey;
}

const usualTimeoutMs = 10_000;

/** @returns null when it was refused @throws when no node answered */
export async function attest(options: AttestOptions): Promise<Attested | null> {
  const { url, token, sockets, hostName, timeoutMs = usualTimeoutMs } = options;
  const { publicKey, privateKey } = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  const raw = Buffer.from(await crypto.subtle.exportKey("raw", publicKey)).toString("base64");
  const base = url.href.replace(/[?#].*$/, "").replace(/\/+$/, "");
  const [door] = sockets === null ? [] : openDoors(sockets, () => performance.now()).candidates();
  const at = door === undefined ? base : base.replace(/^https:/, "http:");
  const response = await fetch(`${at}/v1/seal/attest`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ agent_public_key: raw, ...(hostName === null ? {} : { container_id: hostName }) }),
    signal: AbortSignal.timeout(timeoutMs),
    keepalive: false,
    redirect: "manual",
    ...(door === undefined ? {} : { unix: door }),
  });
  const answer: unknown = await response.json();
  if (!response.ok || typeof answer !== "object" || answer === null || !("security_token" in answer)) return null;
  return { securityToken: String(answer.security_token), privateKey };
}
