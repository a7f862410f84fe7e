/** What a delivery carries, as the workflow gets it (docs/reference/stimuli.md). */

import { type Json, jsonOrText } from "../kernel/json.ts";
import { isStorableJson } from "../manifest/storable.ts";

export interface Content {
  /** The text verbatim, or standard base64 of bytes that are none. */
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
}

/** A byte-order mark belongs to the text. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes as content. Those that hold U+0000 count as binary: no store takes it in a text. */
export function contentOf(bytes: Uint8Array): Content {
  if (!bytes.includes(0)) {
    try {
      return { content: utf8.decode(bytes), encoding: "utf-8" };
    } catch {
      // Not UTF-8.
    }
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { content: view.toString("base64"), encoding: "base64" };
}

/**
 * The value that a text stands for: of JSON the value, of a form the object of its fields. A field given twice becomes
 * the list of its values, and the JSON in a field `payload` its value.
 * @param contentType as the delivery names it; of a text without one, an object or array in JSON is taken for that
 * @returns null for anything else, for a value that nests deeper than a request's body may or that stores refuse
 *   (U+0000, half a surrogate pair), and for a form of more than 10,000 fields
 */
export function payloadOf(text: string, contentType: string | null): Json {
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === formType) return orNull(formOf(text));
  if (mediaType !== null && !jsonType.test(mediaType)) return null;
  // RFC 8259, 8.1: a parser may pass over the mark.
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  const value = mediaType === null || /^\s*[[{]/.test(json) ? containerOf(json) : scalarOf(json);
  // What stores refuse stands escaped in a text that they take.
  return /\\u(?:0000|d[89a-f])/i.test(json) ? orNull(value) : value;
}

const jsonType = /^(?:application\/(?:[\w.-]+\+)?|text\/)json$/;
const formType = "application/x-www-form-urlencoded";

/** Whether the content type is that of a form. */
export const isForm = (contentType: string | null): boolean => mediaTypeOf(contentType) === formType;

/** Lower case, without parameters; null when there is none. */
function mediaTypeOf(contentType: string | null): string | null {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() || null;
}

/** An object or array; null for all else. */
function containerOf(json: string): Json {
  const value = jsonOrText(json);
  return typeof value === "string" ? null : value;
}

function scalarOf(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return null;
  }
}

/** A form of more fields than this takes long to read: its text is the content instead. */
const maxFields = 10_000;

function formOf(text: string): Json {
  if (text.split("&", maxFields + 1).length > maxFields) return null;
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (typeof before === "string") fields.set(name, [before, value]);
    else before.push(value);
  }
  // Members of its own under any name of a field, `__proto__` too.
  const form: { [name: string]: Json } = Object.fromEntries(fields);
  if (typeof form.payload === "string") form.payload = jsonOrText(form.payload);
  return form;
}

const orNull = (value: Json): Json => (isStorableJson(value) ? value : null);
