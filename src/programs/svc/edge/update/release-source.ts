/** Where a release comes from: a file of this machine, or a server. What is relative in it is beside it. */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readEdgeKey } from "../../../../../actors/edge/base64.ts";
import { maxReleaseFileBytes, type Release, readRelease, readReleaseFile } from "../../../../../actors/edge/release.ts";
import { releaseMessage } from "../../../../../actors/edge/signing.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { ed25519Key, isSigned } from "../../../../lib/ed25519.ts";
import { isLoopback } from "../../session/address.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { unreachable } from "../service/client.ts";

export interface ReleaseKey {
  readonly kid: string;
  /** Base64 of 32 bytes. */
  readonly public_key: string;
}

/** Nothing comes for so long: the server is gone. */
const silenceMs = 60_000;
const mostRedirects = 5;

/** A path, or an address of http or https. @throws Failure `usage` */
export function sourceOf(text: string, allowPlaintext: boolean): URL {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return pathToFileURL(resolve(text));
  const url = URL.parse(text);
  if (url === null) throw usageFailure(`${text} is neither a file nor an address`);
  return allowed(url, allowPlaintext);
}

/** Of a program that a release names. A release from a server names no file of this machine. @throws Failure */
export function programSource(release: URL, named: string, allowPlaintext: boolean): URL {
  const url = URL.parse(named, release);
  if (url === null || (url.protocol === "file:" && release.protocol !== "file:"))
    throw new Failure("authentication", `the release names ${named}, which is no address`, "bad_release");
  return allowed(url, allowPlaintext);
}

function allowed(url: URL, allowPlaintext: boolean): URL {
  const isPlain = url.protocol === "http:" && !allowPlaintext && !isLoopback(url.hostname);
  if (isPlain) throw usageFailure(`${url.origin}: plain http to another machine needs --allow-plaintext`);
  if (!["file:", "https:", "http:"].includes(url.protocol)) throw usageFailure(`${url.protocol} is not read from`);
  return url;
}

/**
 * Its pieces, as they come.
 * @throws Failure `unavailable` when it cannot be read; `usage` for a redirect to plain http, at any step
 */
export async function* piecesOf(source: URL, allowPlaintext: boolean): AsyncGenerator<Uint8Array> {
  if (source.protocol === "file:") return yield* piecesOfFile(source);
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), silenceMs);
  try {
    const response = await fetched(source, allowPlaintext, silent.signal);
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    for await (const piece of response.body) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      yield piece;
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(shown(source), error);
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** Each step of a redirect must be allowed by itself: one over plain http could lead anywhere. */
async function fetched(source: URL, allowPlaintext: boolean, signal: AbortSignal): Promise<Response> {
  let at = source;
  for (let step = 0; step <= mostRedirects; step += 1) {
    const headers = { "Accept-Encoding": "identity" };
    const response = await fetch(at, { headers, signal, decompress: false, redirect: "manual" });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, at);
    if (next === null || next.protocol === "file:") throw new Error("the server answers with a redirect to no address");
    if (at.protocol === "https:" && next.protocol === "http:" && !allowPlaintext)
      throw usageFailure(`${shown(at)} leads to plain http, which needs --allow-plaintext`);
    at = allowed(next, allowPlaintext);
  }
  throw new Error("the server answers with redirects without end");
}

/** Without what may be a secret in it. */
const shown = (source: URL): string =>
  source.protocol === "file:" ? source.pathname : `${source.origin}${source.pathname}`;

async function* piecesOfFile(source: URL): AsyncGenerator<Uint8Array> {
  try {
    const file = await open(source);
    try {
      for await (const piece of file.createReadStream({ autoClose: false })) yield piece as Uint8Array;
    } finally {
      await file.close().catch(() => {});
    }
  } catch (error) {
    throw unreachable(source.pathname, error);
  }
}

/**
 * Reads a release and checks by whom it is.
 *
 * @param keys that may sign releases
 * @throws Failure `authentication` for what no such key has signed, `unavailable`
 */
export async function readSignedRelease(
  source: URL,
  keys: readonly ReleaseKey[],
  allowPlaintext: boolean,
): Promise<Release> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of piecesOf(source, allowPlaintext)) {
    size += piece.length;
    if (size > maxReleaseFileBytes) throw bad(`${shown(source)} is larger than a release file may be`);
    pieces.push(piece);
  }
  const file = readReleaseFile(new TextDecoder().decode(Buffer.concat(pieces)));
  if (file === null) throw bad(`${shown(source)} is no release file`);
  const message = releaseMessage(sha256Hex(file.b));
  const isGood = keys.some(({ kid, public_key }) => {
    const key = kid === file.kid ? readEdgeKey(public_key) : null;
    return key !== null && isSigned(ed25519Key(key), [message], file.signature);
  });
  if (!isGood) throw bad(`the release is not signed by a key that this host trusts (its key is ${file.kid})`);
  const release = readRelease(file.b);
  if (release === null) throw bad("the release is signed, but says nothing that this program understands");
  return release;
}

const bad = (message: string): Failure => new Failure("authentication", message, "bad_release");
