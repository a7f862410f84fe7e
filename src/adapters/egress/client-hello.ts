/** The first message of a TLS client, read for the one thing it says in clear: the server it means (RFC 6066, 8446). */

export type ClientHello =
  /** Not all there yet. */
  | { readonly kind: "more" }
  | { readonly kind: "not_tls" }
  /** TLS, but not a ClientHello that can be understood. */
  | { readonly kind: "malformed" }
  /** `serverName` in lower case; null when it says none, as for addresses. */
  | { readonly kind: "hello"; readonly serverName: string | null };

const handshakeRecord = 22;
const clientHelloMessage = 1;
const serverNameExtension = 0;
const hostName = 0;
const recordHeader = 5;
/** A TLS record holds no more; nor does any client's first message. */
const maxRecord = 16_384;
export const maxClientHello = 16_384 + 1024;

const more: ClientHello = { kind: "more" };
const malformed: ClientHello = { kind: "malformed" };

/** Reads the bytes that a client sent so far; the message may be spread over records, records over pieces. */
export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length === 0) return more;
  if (bytes[0] !== handshakeRecord || (bytes.length > 1 && bytes[1] !== 3)) return { kind: "not_tls" };
  const { message, whole } = unpack(bytes);
  if (message.length >= 4) {
    if (message[0] !== clientHelloMessage) return malformed;
    const end = 4 + message.readUIntBE(1, 3);
    if (end > maxClientHello) return malformed;
    if (message.length >= end) return readHello(message.subarray(4, end));
  }
  return whole && bytes.length <= maxClientHello + recordHeader ? more : malformed;
}

/** What the leading handshake records carry. `whole`: nothing else stands between or after them. */
function unpack(bytes: Buffer): { readonly message: Buffer; readonly whole: boolean } {
  const parts: Buffer[] = [];
  let at = 0;
  while (bytes.length >= at + recordHeader) {
    const size = bytes.readUInt16BE(at + 3);
    const sound = bytes[at] === handshakeRecord && bytes[at + 1] === 3 && size > 0 && size <= maxRecord;
    if (!sound) return { message: Buffer.concat(parts), whole: false };
    parts.push(bytes.subarray(at + recordHeader, at + recordHeader + size));
    at += recordHeader + size;
  }
  return { message: Buffer.concat(parts), whole: true };
}

function readHello(message: Buffer): ClientHello {
  try {
    const fields = new Cursor(message);
    fields.skip(2 + 32);
    fields.take(1);
    fields.take(2);
    fields.take(1);
    // Without extensions it may simply end here.
    const extensions = new Cursor(fields.done ? Buffer.alloc(0) : fields.take(2));
    if (!fields.done) return malformed;
    let serverName: string | null = null;
    const seen = new Set<number>();
    while (!extensions.done) {
      const kind = extensions.number(2);
      const content = extensions.take(2);
      if (seen.has(kind)) return malformed;
      seen.add(kind);
      if (kind === serverNameExtension) serverName = readServerName(content);
    }
    return { kind: "hello", serverName };
  } catch {
    return malformed;
  }
}

/** @throws RangeError for anything but one host name */
function readServerName(content: Buffer): string {
  const outer = new Cursor(content);
  const list = new Cursor(outer.take(2));
  const kind = list.number(1);
  const name = list.take(2);
  if (kind !== hostName || !list.done || !outer.done || name.length === 0) throw new RangeError("not one host name");
  return name.toString("latin1").toLowerCase();
}

/** Reads from the front; past the end it throws a RangeError. */
class Cursor {
  private at = 0;
  constructor(private readonly bytes: Buffer) {}
  get done(): boolean {
    return this.at === this.bytes.length;
  }
  skip(count: number): void {
    if (this.at + count > this.bytes.length) throw new RangeError("too short");
    this.at += count;
  }
  number(size: number): number {
    const from = this.at;
    this.skip(size);
    return this.bytes.readUIntBE(from, size);
  }
  /** A part that is led by its length. */
  take(lengthSize: number): Buffer {
    const length = this.number(lengthSize);
    const from = this.at;
    this.skip(length);
    return this.bytes.subarray(from, from + length);
  }
}
