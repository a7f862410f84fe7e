/** Answers that may be a few seconds old, kept so that a busy question is asked once in that time. */
import { LRUCache } from "lru-cache";

/** What was found, and until when it may be told, Unix milliseconds. */
export interface RefreshedValue<V> {
  readonly value: V;
  readonly until: number;
}

export interface RefreshingCacheOptions<V> {
  /** Asks anew. */
  readonly find: (question: string) => Promise<RefreshedValue<V>>;
  /** Whether an answer says that there is nothing: such answers are kept apart, so that a flood of them displaces no other. */
  readonly isNothing: (value: V) => boolean;
  /** An answer this old, in milliseconds, is looked up again while it is still given, so that no caller waits for it. */
  readonly renewAfterMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Answers kept at most, of either sort. */
  readonly capacity: number;
}

interface Kept<V> extends RefreshedValue<V> {
  readonly renewFrom: number;
}

export class RefreshingCache<V> {
  private readonly found: LRUCache<string, Kept<V>>;
  private readonly nothing: LRUCache<string, Kept<V>>;
  private readonly asking = new Map<string, Promise<V>>();

  constructor(private readonly options: RefreshingCacheOptions<V>) {
    this.found = new LRUCache({ max: options.capacity });
    this.nothing = new LRUCache({ max: options.capacity });
  }

  /** Rejects as `find` does; a failure is not kept. */
  get(question: string): V | Promise<V> {
    const known = this.found.get(question) ?? this.nothing.get(question);
    const at = this.options.now();
    if (known === undefined || at >= known.until) return this.asking.get(question) ?? this.ask(question, at);
    if (at >= known.renewFrom && !this.asking.has(question)) this.ask(question, at).catch(() => {});
    return known.value;
  }

  /** The next question is looked up anew, even while one is under way. */
  drop(question: string): void {
    this.found.delete(question);
    this.nothing.delete(question);
    this.asking.delete(question);
  }

  private ask(question: string, at: number): Promise<V> {
    const answer = this.options.find(question).then(
      (fresh) => {
        // Dropped meanwhile: callers that waited get what was true when they asked, later ones do not.
        if (this.asking.get(question) === answer)
          this.keep(question, { ...fresh, renewFrom: at + this.options.renewAfterMs });
        return fresh.value;
      },
      (error) => {
        if (this.asking.get(question) === answer) this.asking.delete(question);
        throw error;
      },
    );
    this.asking.set(question, answer);
    return answer;
  }

  private keep(question: string, fresh: Kept<V>): void {
    this.drop(question);
    (this.options.isNothing(fresh.value) ? this.nothing : this.found).set(question, fresh);
  }
}
