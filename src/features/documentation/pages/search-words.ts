/** How texts and questions become words, on the node that makes the index and in the browser that asks it. */

/** `SVC_HTTP_PORT` is found by itself and by `port`; so are `fs.read`, `agent:deploy` and `svc-consumer`. */
export function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_.:/-]+/u).flatMap((word) => {
    const whole = word.replace(/^[_.:/-]+|[_.:/-]+$/g, "");
    const parts = whole.split(/[_.:/-]+/).filter((part) => part !== "");
    return parts.length > 1 && whole.length <= 60 ? [whole, ...parts] : parts;
  });
}

/** Of `MiniSearch`, the same on both sides. */
export const searchOptions = {
  fields: ["title", "heading", "text"],
  storeFields: ["page", "path", "href", "snippet", "section"],
  tokenize: wordsOf,
};

/** What is found, as the index keeps it. */
export interface Found {
  /** Its title. */
  readonly page: string;
  /** Headings within the page, from the outermost. */
  readonly path: readonly string[];
  /** Below `/docs/`. */
  readonly href: string;
  readonly snippet: string;
  /** Title of the page's section. */
  readonly section: string;
}
