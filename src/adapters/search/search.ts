/** What a search engine is asked, and how it is asked again where that may help. */
import { madeStorable } from "../../../actors/manifest/storable.ts";
import { readJson } from "../../lib/answer-body.ts";

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** What of the engine found it, or the site that it is of. */
  readonly source: string;
}

export interface SearchEngine {
  /** As results name it. */
  readonly name: string;
  /**
   * @param most 1 to 20
   * @throws SearchFailed; the signal's reason when it is aborted
   */
  search(query: string, most: number, signal: AbortSignal): Promise<readonly SearchHit[]>;
}

export class SearchFailed extends Error {
  override readonly name = "SearchFailed";
  constructor(
    readonly code: "timeout" | "upstream_error",
    message: string,
  ) {
    super(message);
  }
}

/** How one engine is spoken to. */
export interface SearchWire {
  readonly name: string;
  request(query: string, most: number): { readonly url: URL; readonly headers: Readonly<Record<string, string>> };
  /** @param answer of unknown making */
  hits(answer: unknown): readonly SearchHit[];
}

const tries = 3;
const triesMs = 10_000;
const firstPauseMs = 250;
const longestPauseMs = 5_000;
const maxAnswerBytes = 4 * 1_024 * 1_024;
/** What a hit may bring of each, characters. */
const most = { title: 500, url: 4_096, snippet: 2_000, source: 200 } as const;

/** Asks up to three times: what did not come, what came spoilt, and what the engine says may pass. */
export function engineOf(wire: SearchWire): SearchEngine {
  return {
    name: wire.name,
    async search(query, wanted, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const hits = await ask(wire, query, wanted, signal);
          return hits
            .filter(({ url }) => isWebUrl(url))
            .slice(0, wanted)
            .map(bounded);
        } catch (error) {
          signal.throwIfAborted();
          await Bun.sleep(pauseAfter(error, attempt));
          signal.throwIfAborted();
        }
      }
    },
  };
}

/** @returns milliseconds until the next try @throws what was thrown where there is none, SearchFailed */
function pauseAfter(error: unknown, attempt: number): number {
  if (!(error instanceof Passing)) throw error;
  const pause = Math.max(firstPauseMs * 2 ** (attempt - 1), error.afterMs);
  if (attempt >= tries || pause > longestPauseMs) throw new SearchFailed(error.code, error.message);
  return pause;
}

/** A failure that another try may not meet. */
class Passing extends Error {
  constructor(
    readonly code: SearchFailed["code"],
    message: string,
    readonly afterMs = 0,
  ) {
    super(message);
  }
}

async function ask(
  wire: SearchWire,
  query: string,
  wanted: number,
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  const { url, headers } = wire.request(query, wanted);
  const late = AbortSignal.timeout(triesMs);
  let answer: unknown;
  try {
    const response = await fetch(url, {
      headers: { Accept: "application/json", "Accept-Encoding": "identity", "User-Agent": "svc", ...headers },
      // A redirect would take the key along.
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.any([late, signal]),
    });
    const { status } = response;
    if (status !== 200) {
      await response.body?.cancel().catch(() => {});
      const message = `The search engine answered with status ${status}`;
      if (status !== 429 && status < 500) throw new SearchFailed("upstream_error", message);
      throw new Passing("upstream_error", message, retryAfterMs(response.headers.get("retry-after")));
    }
    answer = await readJson(response, maxAnswerBytes);
  } catch (error) {
    if (error instanceof SearchFailed || error instanceof Passing) throw error;
    if (late.aborted) throw new Passing("timeout", `The search engine did not answer within ${triesMs / 1000} s`);
    throw new Passing("upstream_error", "The search engine could not be asked");
  }
  return wire.hits(answer);
}

function retryAfterMs(header: string | null): number {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : 0;
}

function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && text.length <= most.url && URL.canParse(text);
}

function bounded({ title, url, snippet, source }: SearchHit): SearchHit {
  const cut = (text: string, length: number) => madeStorable(plain(text).slice(0, length));
  return {
    title: cut(title, most.title),
    url,
    snippet: cut(snippet, most.snippet),
    source: cut(source, most.source),
  };
}

/** Engines mark what they found by tags. */
function plain(text: string): string {
  return text
    .replace(/<[^<>]{0,200}>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** The members of an answer that are objects. */
export function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "object" && one !== null) : [];
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
