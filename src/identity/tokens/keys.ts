/**
 * The public keys of one realm: fetched, kept for a while, refreshed in the background, and fetched at
 * once when a token names a key not seen before. A provider that is away for a while costs nothing:
 * the keys last seen go on serving.
 */
import { type CryptoKey, importJWK, type JWK } from "jose";
import { Problem } from "../../../actors/kernel/problem.ts";
import { readJson } from "../../lib/answer-body.ts";
import { type TokenAlgorithm, tokenAlgorithms } from "../settings.ts";

export interface VerificationKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly key: CryptoKey | Uint8Array;
  /** Tells whether a later fetch brought the same key. */
  readonly print: string;
}

export interface KeySetOptions {
  /** Gets the keys as published. Rejects when they cannot be had. */
  readonly load: () => Promise<readonly JWK[]>;
  readonly now: () => number;
  /** Age after which keys are refreshed in the background. */
  readonly ttlMs: number;
}

/** How much longer keys serve when no refresh succeeds. */
const graceMs = 3600_000;
/** Between two fetches on account of unknown key ids, and between two failed refreshes. */
const pauseMs = 10_000;
/** Between two attempts while nothing was ever fetched. */
const firstPauseMs = 1000;

export class KeySet {
  private keys: ReadonlyMap<string, VerificationKey> | null = null;
  private fetchedAt = Number.NEGATIVE_INFINITY;
  private failedAt = Number.NEGATIVE_INFINITY;
  private searchedAt = Number.NEGATIVE_INFINITY;
  private underWay: Promise<boolean> | null = null;

  constructor(private readonly options: KeySetOptions) {}

  /**
   * The key a token names, or null when the realm has none such.
   * @throws Problem 503 `identity_provider_unavailable` when the realm's keys cannot be had
   */
  async find(kid: string, algorithm: TokenAlgorithm): Promise<VerificationKey | null> {
    const { now } = this.options;
    await this.available();
    this.refreshIfOld();
    const known = this.keys?.get(name(kid, algorithm));
    if (known) return known;
    if (now() - this.searchedAt >= pauseMs) {
      // A fetch that began before this token came may have missed its key: search anew.
      await this.underWay;
      this.searchedAt = now();
      await this.refresh();
    } else {
      await this.underWay;
    }
    return this.keys?.get(name(kid, algorithm)) ?? null;
  }

  /**
   * Makes sure that there are keys to consult.
   * @throws Problem 503 `identity_provider_unavailable`
   */
  async available(): Promise<void> {
    if (this.usable()) return;
    const pause = this.keys === null ? firstPauseMs : pauseMs;
    const hopeless = this.underWay === null && this.options.now() - this.failedAt < pause;
    if (hopeless || !(await this.refresh())) throw providerUnavailable();
  }

  /** Whether a key that verified a token before still counts. */
  holds(key: VerificationKey): boolean {
    if (!this.usable()) return false;
    this.refreshIfOld();
    return this.keys?.get(name(key.kid, key.algorithm)) === key;
  }

  private usable(): boolean {
    return this.keys !== null && this.options.now() - this.fetchedAt <= this.options.ttlMs + graceMs;
  }

  private refreshIfOld(): void {
    const now = this.options.now();
    if (now - this.fetchedAt > this.options.ttlMs && now - this.failedAt >= pauseMs) void this.refresh();
  }

  /** @returns whether the keys could be had; calls at the same time share one fetch */
  private refresh(): Promise<boolean> {
    this.underWay ??= this.fetch().finally(() => {
      this.underWay = null;
    });
    return this.underWay;
  }

  private async fetch(): Promise<boolean> {
    try {
      const fetched = await Promise.all((await this.options.load()).slice(0, 100).map(readKey));
      const before = this.keys;
      // A key that is still there keeps its object, by which `holds` recognises it.
      const kept = fetched
        .filter((key) => key !== null)
        .map((key) => {
          const old = before?.get(name(key.kid, key.algorithm));
          return old?.print === key.print ? old : key;
        });
      this.keys = new Map(kept.map((key) => [name(key.kid, key.algorithm), key]));
      this.fetchedAt = this.options.now();
      this.failedAt = Number.NEGATIVE_INFINITY;
      return true;
    } catch {
      this.failedAt = this.options.now();
      return false;
    }
  }
}

const name = (kid: string, algorithm: TokenAlgorithm): string => `${algorithm} ${kid}`;

const providerUnavailable = () =>
  new Problem("identity_provider_unavailable", "The identity provider cannot be reached", {}, { "Retry-After": "5" });

/** A published key, or null when it is none that may sign tokens. */
async function readKey(jwk: JWK): Promise<VerificationKey | null> {
  const algorithm = algorithmOf(jwk);
  if (algorithm === null || typeof jwk.kid !== "string" || jwk.kid === "") return null;
  if (jwk.use !== undefined && jwk.use !== "sig") return null;
  if (jwk.alg !== undefined && jwk.alg !== algorithm && !(algorithm === "EdDSA" && jwk.alg === "Ed25519")) return null;
  // Only the public half: a provider may publish the private one by mistake.
  const { kty, n, e, crv, x, y } = jwk;
  const members = Object.entries({ kty, n, e, crv, x, y }).filter(([, value]) => value !== undefined);
  try {
    const key = await importJWK(Object.fromEntries(members) as JWK, algorithm);
    return { kid: jwk.kid, algorithm, key, print: JSON.stringify(members) };
  } catch {
    return null;
  }
}

function algorithmOf(jwk: JWK): TokenAlgorithm | null {
  if (jwk.kty === "RSA" && typeof jwk.n === "string") return rsaBits(jwk.n) >= 2048 ? "RS256" : null;
  if (jwk.kty === "EC" && jwk.crv === "P-256") return "ES256";
  return jwk.kty === "OKP" && jwk.crv === "Ed25519" ? "EdDSA" : null;
}

function rsaBits(modulus: string): number {
  const bytes = Buffer.from(modulus, "base64url");
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
}

/** Whether a text is the name of an algorithm tokens may be signed with. */
export const isTokenAlgorithm = (text: unknown): text is TokenAlgorithm =>
  tokenAlgorithms.some((algorithm) => algorithm === text);

const bodyLimit = 256 * 1024;

/** Reads a JWKS over the network: 8 s in all, at most 256 KiB, no redirects. */
export async function fetchJwks(uri: string, { headMs = 5000, totalMs = 8000 } = {}): Promise<readonly JWK[]> {
  // A head that does not come in time counts as no connection.
  const head = new AbortController();
  const late = setTimeout(() => head.abort(new Error("The key set does not answer")), headMs);
  const response = await fetch(uri, {
    signal: AbortSignal.any([AbortSignal.timeout(totalMs), head.signal]),
    redirect: "error",
    headers: { accept: "application/json", "accept-encoding": "identity" },
    decompress: false,
  }).finally(() => clearTimeout(late));
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`The key set answered ${response.status}`);
  }
  const document = await readJson(response, bodyLimit);
  const keys = typeof document === "object" && document !== null && "keys" in document ? document.keys : null;
  if (!Array.isArray(keys)) throw new Error("The key set has no keys");
  return keys.filter((key): key is JWK => typeof key === "object" && key !== null);
}
