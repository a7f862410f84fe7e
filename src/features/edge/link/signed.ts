/** Frames that are signed, either way, on one link: their numbers and their signatures. */
import { type KeyObject, sign, verify } from "node:crypto";
import { type Frame, signedText } from "../../../../actors/edge/frame-text.ts";
import { type Connection, type Direction, frameMessage } from "../../../../actors/edge/signing.ts";
import { sha256Hex } from "../../../lib/digest.ts";

const messageOf = (direction: Direction, connection: Connection, t: string, s: number, b: string): Buffer =>
  Buffer.from(frameMessage(direction, connection, t, s, sha256Hex(b)));

/** Whether a daemon's signature is over this very frame of this connection. A frame without one has none that holds. */
export function isSignedUp(key: KeyObject, connection: Connection, { t, b, signature }: Frame): boolean {
  if (signature === null) return false;
  return verify(null, messageOf("up", connection, t, signature.s, b), key, signature.bytes);
}

/** The text of a frame of the service. @param s its number, from 1 */
export function signedDown(
  { kid, key }: { readonly kid: string; readonly key: KeyObject },
  connection: Connection,
  t: string,
  s: number,
  b: string,
): string {
  return signedText(t, s, b, sign(null, messageOf("down", connection, t, s, b), key).toString("base64"), kid);
}
