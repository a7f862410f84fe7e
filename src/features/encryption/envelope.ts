/**
 * The form of a ciphertext: `v1.<id of the master key>.<wrapped data key>.<content>`, the last two in base64url,
 * each 12 bytes of nonce, the ciphertext, 16 bytes of tag. Both are AES-256-GCM; their additional data are the context
 * and which of the two it is.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import type { EncryptionContext } from "./encrypted.ts";

/** A key that wraps data keys, under a name that tells nothing of it. */
export interface MasterKey {
  readonly id: string;
  readonly key: KeyObject;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = "v1";

/** @param base64 of 32 bytes @throws RangeError for any other length, without naming the text */
export function masterKeyOf(base64: string): MasterKey {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length !== keyBytes) throw new RangeError(`a master key has ${keyBytes} bytes`);
  const digest = createHash("sha256").update("svc master key\0").update(bytes).digest();
  return { id: digest.subarray(0, 9).toString("base64url"), key: createSecretKey(bytes) };
}

/** What every text begins with that this key wrapped. */
export const prefixOf = ({ id }: MasterKey): string => `${version}.${id}.`;

export function encryptText(master: MasterKey, context: EncryptionContext, plain: string): string {
  const dataKey = randomBytes(keyBytes);
  const wrapped = encrypt(master.key, boundTo("key", context), dataKey);
  const content = encrypt(createSecretKey(dataKey), boundTo("content", context), Buffer.from(plain, "utf8"));
  return `${prefixOf(master)}${wrapped.toString("base64url")}.${content.toString("base64url")}`;
}

/** Recognises bytes without telling anything of them to who has no master key. */
export function fingerprintOf({ key }: MasterKey, bytes: Uint8Array): Uint8Array {
  const own = createHmac("sha256", key).update("svc fingerprint").digest();
  return createHmac("sha256", own).update(bytes).digest();
}

/** Why a text cannot be decrypted; never what it holds. */
export type DecryptionFailure = "malformed" | "unknown_key" | "not_authentic";
export type Decrypted = { readonly plain: string } | { readonly why: DecryptionFailure };

/** @param masters the keys that may have wrapped it */
export function decryptText(masters: readonly MasterKey[], context: EncryptionContext, ciphertext: string): Decrypted {
  const [form, id, wrappedText, contentText, ...more] = ciphertext.split(".");
  const wrapped = bytesOf(wrappedText);
  const content = bytesOf(contentText);
  if (form !== version || more.length > 0 || wrapped === null || content === null) return { why: "malformed" };
  const master = masters.find((key) => key.id === id);
  if (master === undefined) return { why: "unknown_key" };
  const dataKey = decrypt(master.key, boundTo("key", context), wrapped);
  if (dataKey?.length !== keyBytes) return { why: "not_authentic" };
  const plain = decrypt(createSecretKey(dataKey), boundTo("content", context), content);
  return plain === null ? { why: "not_authentic" } : { plain: plain.toString("utf8") };
}

/** Additional data: no two contexts have the same. */
function boundTo(part: "key" | "content", { tenant, record, version: which }: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify(["svc", version, part, tenant, record, which]));
}

function encrypt(key: KeyObject, bound: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null for what this key did not encrypt, or not in this context. */
function decrypt(key: KeyObject, bound: Buffer, bytes: Buffer): Buffer | null {
  const end = bytes.length - tagBytes;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(bound).setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]);
  } catch {
    return null;
  }
}

/** Null unless it is what was written: decoders pass over foreign characters and stray bits. */
function bytesOf(text: string | undefined): Buffer | null {
  if (text === undefined) return null;
  const bytes = Buffer.from(text, "base64url");
  return bytes.length >= nonceBytes + tagBytes && bytes.toString("base64url") === text ? bytes : null;
}
