/** Base64 in either alphabet, with or without padding; null for anything else, where common decoders skip what they do not know. */

const standard = /^[A-Za-z0-9+/]*={0,2}$/;
const urlSafe = /^[A-Za-z0-9_-]*={0,2}$/;

export function fromBase64(text: string): Uint8Array | null {
  if (!standard.test(text) && !urlSafe.test(text)) return null;
  const digits = text.replace(/=+$/, "");
  const padding = text.length - digits.length;
  if (digits.length % 4 === 1) return null;
  if (padding > 0 && (digits.length + padding) % 4 !== 0) return null;
  const bytes = Uint8Array.fromBase64(digits.replaceAll("-", "+").replaceAll("_", "/"), { alphabet: "base64" });
  return bytes;
}
