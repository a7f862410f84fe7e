/** What a secret holds: read from a request, measured, and picked from for a use. */
import { type Issue, invalidField, invalidRequest } from "../../../actors/kernel/problem.ts";
import { fieldName } from "../../../actors/manifest/references.ts";
import type { WriteBody } from "./schema.ts";
import type { SecretContent } from "./store.ts";

/** Of a value, decoded. */
const maxBytes = 256 * 1024;

/** The text that stands for a secret as a whole: of several values their JSON. */
export const textOf = (content: SecretContent): string =>
  content.form === "data" ? JSON.stringify(content.data) : content.value;

/** Bytes of what is kept, decoded. */
export function sizeOf(content: SecretContent): number {
  return content.form === "base64" ? decoded(content.value).length : Buffer.byteLength(textOf(content));
}

/** @param base64 in the standard or the URL-safe alphabet */
const decoded = (base64: string): Buffer => Buffer.from(base64, "base64");

/** @throws Problem 422 `validation_failed` */
export function readContent({ value, encoding, data }: WriteBody): SecretContent {
  if ((value === undefined) === (data === undefined)) throw invalidField("value", "give either value or data");
  if (data !== undefined) {
    if (encoding !== undefined) throw invalidField("encoding", "belongs to value");
    const issues = dataIssues(data);
    if (issues.length > 0) throw invalidRequest(issues);
    return withinBound({ form: "data", data }, "data");
  }
  const text = value ?? "";
  if (encoding === "base64") {
    if (!isBase64(text)) throw invalidField("value", "must be base64, in the standard or the URL-safe alphabet");
    return withinBound({ form: "base64", value: text }, "value");
  }
  if (!text.isWellFormed()) throw invalidField("value", "has half a surrogate pair; send it in base64");
  return withinBound({ form: "plaintext", value: text }, "value");
}

function withinBound(content: SecretContent, path: string): SecretContent {
  if (sizeOf(content) <= maxBytes) return content;
  throw invalidField(path, `may have at most ${maxBytes} bytes`);
}

function dataIssues(data: Readonly<Record<string, string>>): Issue[] {
  const issue = (path: string, message: string): Issue => ({ path, message, code: "invalid" });
  for (const [name, text] of Object.entries(data)) {
    if (!fieldName.test(name) || !name.isWellFormed()) {
      return [issue("data", "names of fields are 1 to 256 characters without control characters and #")];
    }
    if (!text.isWellFormed()) return [issue(`data.${name}`, "has half a surrogate pair")];
  }
  return [];
}

/** One alphabet throughout, padding whole or absent, no stray bits at the end. */
function isBase64(text: string): boolean {
  const bare = text.replace(/={1,2}$/, "");
  if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)$/.test(bare)) return false;
  if (bare.length !== text.length && text.length % 4 !== 0) return false;
  return decoded(bare).toString("base64url") === bare.replaceAll("+", "-").replaceAll("/", "_");
}

/** The value that a reference means: a field, or the whole. Null: there is no such field. */
export function pick(content: SecretContent, field: string | null): string | null {
  if (field === null) return textOf(content);
  if (content.form !== "data" || !Object.hasOwn(content.data, field)) return null;
  return content.data[field] ?? null;
}

/** Everything of a picked value that may be met alone and must not be shown. */
export function partsOf(content: SecretContent, field: string | null, value: string): string[] {
  if (content.form === "data") return field === null ? [value, ...Object.values(content.data)] : [value];
  if (content.form === "plaintext") return [value];
  const bytes = decoded(content.value);
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? [value, text] : [value];
}
