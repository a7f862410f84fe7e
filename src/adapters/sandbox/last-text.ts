/**
 * The end of an output as text that takes no more bytes than it is allowed: what is no UTF-8 grows when it is decoded.
 * @param limit bytes
 */
export function lastText(bytes: Uint8Array, limit: number): string {
  let text = new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - limit)));
  while (Buffer.byteLength(text) > limit) text = text.slice(Math.ceil((Buffer.byteLength(text) - limit) / 3));
  return text;
}
