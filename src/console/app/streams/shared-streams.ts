/** Streams of events that several tabs follow at once. */
import { type Client, createClient } from "../../../programs/client/client.ts";
import { ApiError } from "../../../programs/client/errors.ts";
import { follow, type StreamedEvent } from "../../../programs/client/events.ts";

/** From a tab. */
export type Request =
  | {
      readonly type: "open";
      readonly id: number;
      readonly url: string;
      /** Of the person who is signed in: realm, subject and tenant. A tab has one at a time. */
      readonly identity: string;
      readonly path: string;
      readonly after: string | null;
      /** Whether a tab that comes later hears what came before. */
      readonly replays: boolean;
    }
  | { readonly type: "close"; readonly id: number }
  /** What was asked for. @property identity of the token: the tab's own now, null where it is signed in no more */
  | {
      readonly type: "token";
      readonly ask: number;
      readonly identity: string | null;
      readonly token: string | null;
    }
  /** The tab closes, or its identity changes: it follows nothing any more and lends nothing. */
  | { readonly type: "leave" };

/** To a tab. */
export type Answer =
  | { readonly type: "event"; readonly id: number; readonly event: StreamedEvent }
  | { readonly type: "state"; readonly id: number; readonly state: "open" | "lost" }
  | { readonly type: "end"; readonly id: number; readonly status: number | null; readonly reason: string | null }
  | { readonly type: "token"; readonly ask: number; readonly identity: string; readonly refused: string | null };

/** What a tab has of a worker, or of its own process. */
export interface Port {
  postMessage(message: Answer): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
}

interface Listener {
  readonly port: Port;
  readonly id: number;
}

/** A tab that was asked for a token. */
interface Ask {
  readonly port: Port;
  readonly settle: (lent: Lent | null) => void;
}

type Lent = Extract<Request, { type: "token" }>;

interface Share {
  readonly after: string | null;
  /** Null: a later tab hears only what comes then. */
  readonly heard: StreamedEvent[] | null;
  readonly listeners: Set<Listener>;
  readonly stop: AbortController;
  state: "open" | "lost";
}

/** Events that are kept for a tab that comes later; it opens a connection of its own for what lies before. */
const maxHeard = 20_000;
/** A tab that renews its token first needs a while, ms. */
const askTimeoutMs = 20_000;

export function openShares() {
  const shares = new Map<string, Share>();
  /** The identity that each tab is signed in with. */
  const tabs = new Map<Port, string>();
  const asks = new Map<number, Ask>();
  let nextAsk = 1;

  /**
   * Any tab of the identity can lend a token, and no other tab: what a person may hear is never asked for with the token
   * of another one. A tab that does not answer is gone without having said so.
   */
  const tokenOf =
    (identity: string) =>
    async (refused: string | null): Promise<string | null> => {
      const tried = new Set<Port>();
      const next = () => [...tabs].find(([tab, own]) => own === identity && !tried.has(tab))?.[0];
      for (let tab = next(); tab !== undefined; tab = next()) {
        tried.add(tab);
        const lent = await askTab(tab, identity, refused);
        if (lent?.identity === identity && lent.token !== null) return lent.token;
        if (lent?.identity !== identity && tabs.get(tab) === identity) leave(tab);
      }
      return null;
    };

  /** @returns null where the tab does not answer */
  function askTab(port: Port, identity: string, refused: string | null): Promise<Lent | null> {
    const ask = nextAsk++;
    return new Promise((resolve) => {
      const settle = (lent: Lent | null) => {
        clearTimeout(late);
        asks.delete(ask);
        resolve(lent);
      };
      const late = setTimeout(() => settle(null), askTimeoutMs);
      asks.set(ask, { port, settle });
      port.postMessage({ type: "token", ask, identity, refused });
    });
  }

  const toAll = (share: Share, message: (id: number) => Answer) => {
    for (const { port, id } of share.listeners) port.postMessage(message(id));
  };

  async function run(key: string, share: Share, client: Client, path: string): Promise<void> {
    const options = {
      signal: share.stop.signal,
      after: share.after,
      connection(state: Share["state"]) {
        share.state = state;
        toAll(share, (id) => ({ type: "state", id, state }));
      },
    };
    let end: { status: number | null; reason: string | null } = { status: null, reason: null };
    try {
      for await (const event of follow(client, path, options)) {
        if (share.heard !== null) {
          share.heard.push(event);
          if (share.heard.length > maxHeard) share.heard.shift();
        }
        toAll(share, (id) => ({ type: "event", id, event }));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      end = { status: error instanceof ApiError ? error.status : null, reason };
    }
    shares.delete(key);
    if (!share.stop.signal.aborted) toAll(share, (id) => ({ type: "end", id, ...end }));
  }

  function open(port: Port, { id, url, identity, path, after, replays }: Extract<Request, { type: "open" }>): void {
    const key = JSON.stringify([identity, url, path, after]);
    const listener = { port, id };
    const known = shares.get(key);
    // One that has lost its beginning serves no new tab.
    const share = known !== undefined && (known.heard?.length ?? 0) < maxHeard ? known : null;
    if (share !== null) {
      share.listeners.add(listener);
      port.postMessage({ type: "state", id, state: share.state });
      for (const event of share.heard ?? []) port.postMessage({ type: "event", id, event });
      return;
    }
    const made: Share = {
      after,
      heard: replays ? [] : null,
      listeners: new Set([listener]),
      stop: new AbortController(),
      state: "lost",
    };
    const slot = known === undefined ? key : `${key} ${crypto.randomUUID()}`;
    shares.set(slot, made);
    void run(slot, made, createClient({ url, token: tokenOf(identity) }), path);
  }

  function close(port: Port, id: number | null): void {
    for (const [key, share] of shares) {
      for (const listener of share.listeners)
        if (listener.port === port && (id === null || listener.id === id)) share.listeners.delete(listener);
      if (share.listeners.size > 0) continue;
      share.stop.abort();
      shares.delete(key);
    }
  }

  /** Forgets a tab: the next person who signs in there hears nothing of what it followed. */
  function leave(port: Port): void {
    tabs.delete(port);
    close(port, null);
    for (const { port: asked, settle } of asks.values()) if (asked === port) settle(null);
  }

  return {
    join(port: Port): void {
      port.onmessage = ({ data }) => {
        switch (data.type) {
          case "open":
            if (tabs.has(port) && tabs.get(port) !== data.identity) leave(port);
            tabs.set(port, data.identity);
            return open(port, data);
          case "close":
            return close(port, data.id);
          case "token": {
            const ask = asks.get(data.ask);
            if (ask?.port === port) ask.settle(data);
            return;
          }
          case "leave":
            return leave(port);
        }
      };
    },
  };
}
