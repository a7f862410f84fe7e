/** Schemes that sign the body alone, as `sha256=<hex>` in one header. */
import { anyComma, hexBytes, type Malformed, plainValue, type Signed } from "./preset.ts";

const prefix = "sha256=";

export function readBodyDigest(value: string): Signed | Malformed {
  const fault = plainValue(value, anyComma);
  if (fault !== null) return { malformed: fault };
  if (!value.startsWith(prefix)) return { malformed: "bad_prefix" };
  const signature = hexBytes(value.slice(prefix.length));
  if (signature === null) return { malformed: "bad_hex" };
  return { prefix: "", timestamp: null, signatures: [signature], id: null };
}
