/** What an answer of the web holds, as text. */

export interface Content {
  readonly format: "markdown" | "html" | "text";
  readonly text: string;
  /** Whether some of it was left out on the way. */
  readonly isCut: boolean;
}

const texts = /^(text\/.+|application\/(.+\+)?(json|xml|yaml|x-yaml|x-ndjson|javascript|ecmascript|toml|graphql|sql))$/;
const pages = /^(text\/html|application\/xhtml\+xml)$/;
/** In so much of a page its own charset is looked for, bytes. */
const headBytes = 1_024;

/**
 * @param type `Content-Type`, which may be empty: then what is UTF-8 counts as text
 * @param truncated whether the body breaks off, perhaps within a character
 * @returns null for what is no text
 */
export function contentOf(type: string, body: Uint8Array, truncated: boolean): Content | null {
  const [media = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
  const isPage = pages.test(media) || (media === "" && looksLikePage(body));
  if (!isPage && media !== "" && !texts.test(media)) return null;
  const named = /^charset="?([^"]+)"?$/.exec(parameters.find((one) => one.startsWith("charset=")) ?? "")?.[1];
  const charset = named ?? (isPage ? charsetIn(body) : undefined) ?? "utf-8";
  const text = decoded(body, charset, media === "", truncated);
  return text === null ? null : { format: isPage ? "html" : "text", text, isCut: false };
}

function looksLikePage(body: Uint8Array): boolean {
  return /^\s*(<!doctype html|<html[\s>])/i.test(latin(body));
}

function charsetIn(body: Uint8Array): string | undefined {
  return /<meta[^>]{1,200}charset=["']?([\w-]{1,40})/i.exec(latin(body))?.[1];
}

const latin = (body: Uint8Array): string => Buffer.from(body.subarray(0, headBytes)).toString("latin1");

/** Null for what holds NUL, and with `strict` for what is not encoded so. */
function decoded(body: Uint8Array, charset: string, strict: boolean, truncated: boolean): string | null {
  try {
    const text = decoderOf(charset, strict).decode(body, { stream: truncated });
    return text.includes("\0") ? null : text.toWellFormed();
  } catch {
    return null;
  }
}

/** An unknown charset is read as UTF-8, which most such pages are. */
function decoderOf(
  charset: string,
  fatal: boolean,
): { decode(bytes: Uint8Array, options: { stream: boolean }): string } {
  try {
    return new TextDecoder(charset as "utf-8", { fatal });
  } catch {
    return new TextDecoder("utf-8", { fatal });
  }
}
