/**
 * HTTP/1.1 heads, read strictly (RFC 9112): everything that two readers could take differently is refused, so that
 * no server behind the proxy sees another request than the one that was checked.
 */

export type Fields = readonly (readonly [name: string, value: string])[];

/** How long a body is: bytes, chunks, none, or everything until the connection ends. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_close" };

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** HTTP/1.0 when false. */
  readonly persistent: boolean;
  readonly fields: Fields;
  readonly framing: Framing;
  /** What the client asks of this connection after the request. */
  readonly keepAlive: boolean;
}

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly fields: Fields;
  readonly framing: Framing;
  readonly keepAlive: boolean;
}

/** The head is not HTTP as it must be. */
export class MalformedHead extends Error {
  override readonly name = "MalformedHead";
}

/** Bytes of a request's head, and of a response's. */
export const maxRequestHead = 32 * 1024;
export const maxResponseHead = 128 * 1024;
const maxFields = 200;

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible text, blanks and bytes above ASCII; no control character. */
const value = /^[\t\x20-\x7e\x80-\xff]*$/;
const targetForm = /^[\x21-\x7e]+$/;

/** @param text the head with its empty line, one character per byte */
export function parseRequestHead(text: string): RequestHead {
  const { first, fields } = lines(text);
  const parts = first.split(" ");
  const [method = "", target = "", version = ""] = parts;
  if (parts.length !== 3 || !token.test(method) || !targetForm.test(target) || !/^HTTP\/1\.[01]$/.test(version)) {
    throw new MalformedHead("The request line is not one of HTTP/1.1");
  }
  const persistent = version === "HTTP/1.1";
  const framing = framingOf(fields);
  if (framing?.kind === "chunked" && !persistent) throw new MalformedHead("HTTP/1.0 has no chunks");
  const keepAlive = asksToKeep(fields, persistent);
  return { method, target, persistent, fields, framing: framing ?? { kind: "none" }, keepAlive };
}

/** @param method of the request that it answers */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const { first, fields } = lines(text);
  const parts = /^HTTP\/1\.([01]) (\d{3})(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(first);
  if (parts === null) throw new MalformedHead("The status line is not one of HTTP/1.1");
  const [, minor, digits, reason = ""] = parts;
  const status = Number(digits);
  const written = framingOf(fields);
  const bodiless = method === "HEAD" || status < 200 || status === 204 || status === 304;
  const framing: Framing = bodiless ? { kind: "none" } : (written ?? { kind: "until_close" });
  const keepAlive = framing.kind !== "until_close" && asksToKeep(fields, minor === "1");
  return { status, reason, fields, framing, keepAlive };
}

function lines(text: string): { readonly first: string; readonly fields: Fields } {
  const [first = "", ...rest] = text.slice(0, -4).split("\r\n");
  if (rest.length > maxFields) throw new MalformedHead("There are too many header fields");
  const fields = rest.map((line) => {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const content = line.slice(colon + 1);
    // A blank before the colon or at the start of a line hides a field from some readers.
    if (!token.test(name) || !value.test(content)) throw new MalformedHead("A header field is malformed");
    return [name, content.replace(/^[\t ]+|[\t ]+$/g, "")] as const;
  });
  return { first, fields };
}

function framingOf(fields: Fields): Framing | null {
  const encodings = valuesOf(fields, "transfer-encoding");
  const lengths = valuesOf(fields, "content-length");
  if (encodings.length > 0) {
    if (lengths.length > 0) throw new MalformedHead("Transfer-Encoding and Content-Length contradict each other");
    if (encodings.length > 1 || encodings[0]?.toLowerCase() !== "chunked") {
      throw new MalformedHead("Only the transfer encoding chunked is understood");
    }
    return { kind: "chunked" };
  }
  const [length] = lengths;
  if (length === undefined) return null;
  if (lengths.some((other) => other !== length) || !/^\d{1,15}$/.test(length)) {
    throw new MalformedHead("Content-Length is not one number");
  }
  return Number(length) === 0 ? { kind: "none" } : { kind: "length", bytes: Number(length) };
}

function asksToKeep(fields: Fields, persistent: boolean): boolean {
  const options = connectionOptions(fields);
  return persistent ? !options.includes("close") : options.includes("keep-alive");
}

export function valuesOf(fields: Fields, name: string): readonly string[] {
  return fields.filter(([field]) => field === name).map(([, content]) => content);
}

function connectionOptions(fields: Fields): readonly string[] {
  return [...valuesOf(fields, "connection"), ...valuesOf(fields, "proxy-connection")].flatMap((content) =>
    content.split(",").map((option) => option.trim().toLowerCase()),
  );
}

/** Fields about one connection only (RFC 9110 §7.6.1), and those between a client and its proxy. */
const hopByHop: readonly string[] = [
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Never dropped because `Connection` names them: the request would become another one. */
const endToEnd: readonly string[] = ["host", "content-length", "authorization", "cookie"];

/** The fields that go on to the next hop. */
export function passedOn(fields: Fields): Fields {
  const named = connectionOptions(fields).filter((option) => !endToEnd.includes(option));
  return fields.filter(([name]) => !hopByHop.includes(name) && !named.includes(name));
}

/** The protocol that a message wants to change to, or null. */
export function upgradeOf(fields: Fields): string | null {
  const [protocol] = valuesOf(fields, "upgrade");
  return protocol !== undefined && connectionOptions(fields).includes("upgrade") ? protocol : null;
}

export function writeHead(first: string, fields: Fields): Buffer {
  let text = `${first}\r\n`;
  for (const [name, content] of fields) text += `${name}: ${content}\r\n`;
  return Buffer.from(`${text}\r\n`, "latin1");
}
