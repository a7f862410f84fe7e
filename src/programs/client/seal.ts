/**
 * Signed calls of tools (docs/reference/seal.md): a key made for one session, the session, and calls signed with the key.
 *
 *     const session = await openSession(svc, { security_context: "build" });
 *     const { result } = await callSigned(svc, session, { name: "web.fetch", arguments: { url } });
 *     await endSession(svc, session.id);
 */
import { answer, type Client } from "./client.ts";

/** A session, and the key that its calls are signed with. Neither is stored. */
export interface Session {
  readonly id: string;
  readonly securityContext: string;
  /** By the service's clock. */
  readonly expiresAt: string;
  readonly token: string;
  /** Cannot be read, only signed with. */
  readonly key: CryptoKey;
  /** Seconds since 1970 by the service's clock, now: a caller's own may be wrong. */
  readonly now: () => number;
}

/** What a session is opened for; without an execution the caller itself. */
export interface SessionAsked {
  /** What the calls may be; the caller's usual one, or the execution's, when absent. */
  readonly security_context?: string;
  /** Both or neither: of a running execution, whose sandbox the calls reach. */
  readonly agent_id?: string;
  readonly execution_id?: string;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a call that was let through came to. */
export interface CallAnswer {
  /** Of the tool, or `{status: "pending", …}` while a person is asked. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** Whether this place can make keys: browsers let only pages from https or this machine do so. */
export const canSign = (): boolean => typeof crypto !== "undefined" && crypto.subtle !== undefined;

/** @throws ApiError, Unreachable */
export async function openSession(client: Client, asked: SessionAsked = {}): Promise<Session> {
  const { publicKey, privateKey } = await createKey();
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const body = { ...asked, agent_public_key: base64(raw) };
  const opened = await answer(client.POST("/v1/seal/attest", { body }));
  const [issued, received] = [issuedAt(opened.security_token), performance.now()];
  return {
    id: opened.session_id,
    securityContext: opened.security_context,
    expiresAt: opened.expires_at,
    token: opened.security_token,
    key: privateKey,
    now: () => Math.floor(issued + (performance.now() - received) / 1_000),
  };
}

/**
 * Calls a tool. A proxy that repeats the request makes it run no second time.
 * @throws ApiError for what policy or the tool's schema refuses, Unreachable
 */
export async function callSigned(client: Client, session: Session, call: ToolCall): Promise<CallAnswer> {
  const response = await client.send("/v1/seal/invoke", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
    body: JSON.stringify(await signedEnvelope(session, call)),
  });
  const { result = {} } = (await response.json()) as Partial<CallAnswer>;
  return { result };
}

/** Needs the scope `seal:manage`; without it a session ends by its time. Calls of it that wait are taken back. */
export async function endSession(client: Client, id: string, reason?: string): Promise<void> {
  const body = reason === undefined ? {} : { reason };
  await answer(client.DELETE("/v1/seal/sessions/{id}", { params: { path: { id } }, body }));
}

/** One call, signed. */
export async function signedEnvelope({ key, token, now }: Pick<Session, "key" | "token" | "now">, call: ToolCall) {
  const timestamp = now();
  const payload = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "tools/call", params: { ...call } } as const;
  const signed = bytesOf(canonical({ payload, security_token: token, timestamp }));
  const signature = base64(new Uint8Array(await crypto.subtle.sign("Ed25519", key, signed)));
  return { protocol: "seal/v1", security_token: token, signature, payload, timestamp } as const;
}

/** An Ed25519 key whose secret half does not leave the engine. */
export const createKey = (): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]) as Promise<CryptoKeyPair>;

/**
 * The text that is signed: without white space, members sorted by code point. Numbers and texts stand as
 * `JSON.stringify` writes them, in the envelope as here.
 * @param value of JSON
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => byCodePoint(a, b));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

/** JavaScript's own order of texts is that of UTF-16 units. */
function byCodePoint(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** `iat` of a token that the service made, s. */
function issuedAt(token: string): number {
  const [, claims = ""] = token.split(".");
  const text = atob(claims.replaceAll("-", "+").replaceAll("_", "/"));
  const { iat } = JSON.parse(text) as { readonly iat: number };
  return iat;
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
