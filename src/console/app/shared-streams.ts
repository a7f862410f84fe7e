/** Streams of events that several tabs follow at once. */
import { type Client, createClient } from "../../programs/client/client.ts";
import { ApiError } from "../../programs/client/errors.ts";
import { follow, type StreamedEvent } from "../../programs/client/events.ts";

/** From a tab. */
export type Request =
  | {
      readonly type: "open";
      readonly id: number;
      readonly url: string;
      readonly identity: string;
      readonly path: string;
      readonly after: string | null;
    }
  | { readonly type: "close"; readonly id: number }
  | { readonly type: "token"; readonly ask: number; readonly token: string | null }
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

interface Share {
  readonly identity: string;
  readonly after: string | null;
  readonly heard: StreamedEvent[];
  readonly listeners: Set<Listener>;
  readonly stop: AbortController;
  state: "open" | "lost";
}

/** Events that are kept for a tab that comes later; it opens a connection of its own for what lies before. */
const maxHeard = 20_000;

export function openShares() {
  const shares = new Map<string, Share>();
  /** Tabs by the identity that they are signed in with. */
  const tabs = new Map<string, Set<Port>>();
  const asks = new Map<number, (token: string | null) => void>();
  let nextAsk = 1;

  /** Any tab of the identity can lend a token. */
  const tokenOf = (identity: string) => (refused: string | null) => {
    const [tab] = tabs.get(identity) ?? [];
    if (tab === undefined) return Promise.resolve(null);
    const ask = nextAsk++;
    return new Promise<string | null>((resolve) => {
      asks.set(ask, resolve);
      tab.postMessage({ type: "token", ask, identity, refused });
    });
  };

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
        share.heard.push(event);
        if (share.heard.length > maxHeard) share.heard.shift();
        toAll(share, (id) => ({ type: "event", id, event }));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      end = { status: error instanceof ApiError ? error.status : null, reason };
    }
    shares.delete(key);
    if (!share.stop.signal.aborted) toAll(share, (id) => ({ type: "end", id, ...end }));
  }

  function open(port: Port, { id, url, identity, path, after }: Extract<Request, { type: "open" }>): void {
    const key = `${identity} ${path} ${after ?? ""}`;
    const listener = { port, id };
    const known = shares.get(key);
    // One that has lost its beginning serves no new tab.
    const share = known !== undefined && known.heard.length < maxHeard ? known : null;
    if (share !== null) {
      share.listeners.add(listener);
      port.postMessage({ type: "state", id, state: share.state });
      for (const event of share.heard) port.postMessage({ type: "event", id, event });
      return;
    }
    const made: Share = {
      identity,
      after,
      heard: [],
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

  return {
    join(port: Port): void {
      port.onmessage = ({ data }) => {
        switch (data.type) {
          case "open":
            tabs.set(data.identity, (tabs.get(data.identity) ?? new Set()).add(port));
            return open(port, data);
          case "close":
            return close(port, data.id);
          case "token":
            asks.get(data.ask)?.(data.token);
            asks.delete(data.ask);
            return;
          case "leave":
            close(port, null);
            for (const ports of tabs.values()) ports.delete(port);
        }
      };
    },
  };
}
