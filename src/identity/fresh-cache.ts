/** What was read of PostgreSQL not long ago, so that a busy caller costs no query per request. */
import { LRUCache } from "lru-cache";

/** Changes are promised to be seen on every node within 5 s, also where a notice of them is lost. */
const freshMs = 3000;

export class FreshCache<V extends object> {
  readonly #known: LRUCache<string, { readonly value: V; readonly at: number }>;
  /** Readings under way: requests that come meanwhile share them. */
  #under = new Map<string, Promise<V>>();
  readonly #now: () => number;

  /** @param max entries @param now Unix milliseconds */
  constructor(max: number, now: () => number) {
    this.#known = new LRUCache({ max });
    this.#now = now;
  }

  /** The value, if it was read within the last 3 s and nothing was told of it since. */
  peek(key: string): V | undefined {
    const known = this.#known.get(key);
    return known !== undefined && this.#now() - known.at < freshMs ? known.value : undefined;
  }

  /** The same, read by `load` where it is not known. What `load` throws is not kept. */
  async get(key: string, load: () => Promise<V>): Promise<V> {
    return this.peek(key) ?? this.#under.get(key) ?? this.#read(key, load);
  }

  async #read(key: string, load: () => Promise<V>): Promise<V> {
    const at = this.#now();
    const under = this.#under;
    const reading = load();
    under.set(key, reading);
    try {
      const value = await reading;
      // What was told meanwhile may not be in it yet.
      if (under === this.#under) this.#known.set(key, { value, at });
      return value;
    } finally {
      under.delete(key);
    }
  }

  /** Drops what fits, and keeps nothing of what is being read. @param fits absent: everything */
  forget(fits: (value: V) => boolean = () => true): void {
    this.#under = new Map();
    for (const [key, { value }] of [...this.#known.entries()]) if (fits(value)) this.#known.delete(key);
  }
}
