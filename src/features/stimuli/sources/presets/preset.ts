/**
 * How a delivery is signed (docs/reference/stimuli.md): what every scheme tells of itself.
 *
 * All schemes are HMAC-SHA256 over some bytes that the headers name, followed by the body. They differ in where the
 * headers hold the signatures, and in what is signed before the body.
 */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson, type Json } from "../../../../../actors/kernel/json.ts";
import { isStorable } from "../../../../../actors/manifest/storable.ts";
import type { PresetName } from "../port.ts";

export type MalformedReason =
  | "not_ascii"
  | "repeated_header"
  | "bad_prefix"
  | "bad_hex"
  | "bad_base64"
  | "missing_part"
  | "bad_timestamp";

/** What well-formed headers say. */
export interface Signed {
  /** Signed before the body; ASCII. */
  readonly prefix: string;
  /** Unix seconds; null: the scheme carries no time. */
  readonly timestamp: number | null;
  /** As claimed, 1–10, of any length. One that is right is enough. */
  readonly signatures: readonly Uint8Array[];
  /** The delivery's name where it is signed as well. */
  readonly id: string | null;
}

export interface Malformed {
  readonly malformed: MalformedReason;
}

/** An answer to the provider instead of a stimulus. */
export const Handshake = Type.Union([
  Type.Object({ challenge: AnyJson }),
  Type.Object({ status: Type.Literal("pong"), stimulus_id: Type.Null(), workflow_execution_id: Type.Null() }),
]);
export type Handshake = Static<typeof Handshake>;

/** One scheme. Nothing here throws, for any headers and any payload. */
export interface Preset {
  readonly name: PresetName;
  /** Whether keys and handshakes stand in the body: it is parsed for them only then. */
  readonly readsPayload: boolean;
  /** Whether any of the scheme's headers is there. */
  present(headers: Headers): boolean;
  /** Asked only where one is present. */
  read(headers: Headers): Signed | Malformed;
  /** The time that is signed at the start of the body where the headers name none, Unix seconds; null: none. */
  timeInBody?(body: Uint8Array): number | null;
  /** What the provider calls this delivery within what is signed; null: nothing that could serve as a key. */
  signedKey(signed: Signed, payload: Json): string | null;
  /** The same in a header that is not signed: it counts only where no key of the caller's does. */
  headerKey(headers: Headers): string | null;
  /** Whether equal signed bytes are a repeat unless the source says otherwise. */
  readonly guardsReplays: boolean;
  /** Whether its deliveries can carry a signed time. */
  readonly canCarryTime: boolean;
  /**
   * What the provider calls the event that a delivery tells of, the most exact name first; empty: it says nothing of it.
   * Null: the scheme has no such names.
   */
  readonly eventNames: ((headers: Headers, payload: Json) => readonly string[]) | null;
  /** @param payload as `payloadOf` reads the body; its signature is valid */
  handshake(headers: Headers, payload: Json): Handshake | null;
  /** A secret's text as key bytes; null: not a text this scheme takes. */
  secretBytes(text: string): Uint8Array | null;
  /** The text of a secret made of random bytes. */
  secretText(random: Uint8Array): string;
}

/** Signatures read in one header at most; further ones are passed over. */
const maxSignatures = 10;
const maxKey = 1024;

/** One header's value, checked for what no scheme's header may be. */
export function plainValue(value: string, repeated: RegExp): MalformedReason | null {
  if (!/^[\t\x20-\x7e]*$/.test(value)) return "not_ascii";
  return repeated.test(value) ? "repeated_header" : null;
}

/** How repeats of a header whose value holds no comma arrive (RFC 9110, 5.3). */
export const anyComma = /,/;
/** How they arrive where the value itself holds commas without blanks. */
export const commaAndBlank = /,[\t ]/;

/** Bytes of hex in either case; null: not hex. */
export function hexBytes(hex: string): Uint8Array | null {
  return /^(?:[0-9a-f]{2})+$/i.test(hex) ? Buffer.from(hex, "hex") : null;
}

/** Bytes of standard base64 with its padding; null: not base64, or of no bytes. */
export function base64Bytes(text: string): Uint8Array | null {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : null;
}

/** Unix seconds as providers write them; null: anything else. */
export function unixSeconds(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * The well-formed ones among several signatures. One is enough for a header to be well formed, as providers send old
 * and new schemes and keys side by side.
 * @param decode null for a text that is malformed
 */
export function decodedSignatures(
  texts: readonly string[],
  decode: (text: string) => Uint8Array | null,
  otherwise: MalformedReason,
): readonly Uint8Array[] | Malformed {
  if (texts.length === 0) return { malformed: "missing_part" };
  const decoded = texts.slice(0, maxSignatures).flatMap((text) => decode(text) ?? []);
  return decoded.length === 0 ? { malformed: otherwise } : decoded;
}

/** A text that can serve as a key of deliveries; null for anything else. */
export function keyText(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" && value.length <= maxKey && isStorable(value) ? value : null;
}

/** A member of a payload; undefined where the payload is no object. */
export function member(
  payload: Json,
  name: "id" | "event_id" | "event" | "type" | "action" | "challenge",
): Json | undefined {
  return typeof payload === "object" && payload !== null
    ? (payload as { readonly [key: string]: Json | undefined })[name]
    : undefined;
}

/** The names of an event, of the one that a payload's member gives; none where it is no text. */
export const eventText = (value: Json | undefined): readonly string[] => (typeof value === "string" ? [value] : []);

const utf8 = new TextEncoder();

/** The text as UTF-8, byte for byte: the key of every scheme but one. */
export const textBytes = (text: string): Uint8Array | null => (text === "" ? null : utf8.encode(text));

export const hexText = (random: Uint8Array): string => Buffer.from(random).toString("hex");

const prefix = "sha256=";

/** Of a scheme that signs the body alone, as `sha256=<hex>` in one header. */
export function readBodyDigest(value: string): Signed | Malformed {
  const fault = plainValue(value, anyComma);
  if (fault !== null) return { malformed: fault };
  if (!value.startsWith(prefix)) return { malformed: "bad_prefix" };
  const signature = hexBytes(value.slice(prefix.length));
  if (signature === null) return { malformed: "bad_hex" };
  return { prefix: "", timestamp: null, signatures: [signature], id: null };
}
