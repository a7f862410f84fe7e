/** Content that a caller of the API wrote: of a posted stimulus, or in the place of what a replay has. */
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { contentOf } from "../../../../actors/stimulus/content.ts";
import type { Arrival } from "../../../../actors/stimulus/stimulus.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import { maxContentBytes } from "./webhooks.ts";

export type WrittenContent = Pick<Arrival, "content" | "contentEncoding" | "contentSize" | "contentSha256"> & {
  /** It was given as a text, not as another JSON value. */
  readonly isText: boolean;
};

/** A text as it is, any other value as compact JSON. @throws Problem 413, 422 */
export function readContent(value: unknown): WrittenContent {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  if (value === null || value === undefined || text.trim() === "") {
    throw invalidAt("validation_failed", "content", "is required and may not be blank");
  }
  if (!text.isWellFormed()) throw invalidAt("validation_failed", "content", "holds a lone surrogate");
  const bytes = Buffer.from(text, "utf8");
  if (bytes.byteLength > maxContentBytes) {
    throw new Problem("body_too_large", `The content is larger than ${maxContentBytes} bytes`, {
      limit_bytes: maxContentBytes,
    });
  }
  const { content, encoding } = contentOf(bytes);
  return {
    content,
    contentEncoding: encoding,
    contentSize: bytes.byteLength,
    contentSha256: sha256Hex(bytes),
    isText,
  };
}
