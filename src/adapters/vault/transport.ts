/** One request to a vault: its address, its certificate authority, its bounds. */
import { plainBody } from "../../lib/answer-body.ts";

/** It cannot be reached, is sealed, refuses the token, or answers what it should not. The message holds no secret. */
export class VaultUnavailable extends Error {
  override readonly name = "VaultUnavailable";
  constructor(
    message: string,
    /** Of its answer; null: there was none. */
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

export interface VaultRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `/v1/`, encoded. */
  readonly path: string;
  readonly token: string | null;
  /** Null: the root namespace, or a server without any. */
  readonly namespace: string | null;
  readonly body?: unknown;
}

export interface VaultAnswer {
  readonly status: number;
  /** Null for an answer without a body. */
  readonly body: unknown;
}

export type VaultTransport = (request: VaultRequest) => Promise<VaultAnswer>;

const timeoutMs = 10_000;
/** Of an answer; a list of one folder is the largest. */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * @param address without a trailing slash
 * @param ca      PEM of the authorities to trust in place of the system's; null: the system's
 */
export function vaultTransport(address: string, ca: string | null): VaultTransport {
  return async ({ method, path, token, namespace, body }) => {
    const headers: Record<string, string> = { "X-Vault-Request": "true", "Accept-Encoding": "identity" };
    if (token !== null) headers["X-Vault-Token"] = token;
    if (namespace !== null) headers["X-Vault-Namespace"] = namespace;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      const response = await fetch(`${address}/v1/${path}`, {
        method,
        headers,
        // A token goes to the server that the operator named, and to no other.
        redirect: "manual",
        decompress: false,
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(ca === null ? {} : { tls: { ca } }),
      });
      const text = await boundedText(response);
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    } catch (error) {
      if (error instanceof VaultUnavailable) throw error;
      // What `fetch` throws may name the URL, and with it the path of a secret.
      const reason = error instanceof Error ? error.name : "an error";
      throw new VaultUnavailable(`The vault gave no usable answer (${reason})`);
    }
  };
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of plainBody(response) ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new VaultUnavailable("The vault answered with too much");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
