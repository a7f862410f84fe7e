/** Streams of events in a tab: heard through the browser's shared worker, or alone where there is none. */
import { useEffect, useRef, useState } from "react";
import type { StreamedEvent } from "../../../programs/client/events.ts";
import { serviceUrl } from "../session/place.ts";
import { identityNow, identityOf, onIdentity, token, useMe } from "../session/session.ts";
import { type Answer, openShares, type Port, type Request } from "./shared-streams.ts";

export type Connection = "connecting" | "open" | "lost" | "ended" | "refused";

interface Subscriber {
  readonly event: (event: StreamedEvent) => void;
  readonly state: (state: Connection) => void;
}

const subscribers = new Map<number, Subscriber>();
let nextId = 1;
let send: ((request: Request) => void) | null = null;

function connect(): (request: Request) => void {
  if (send !== null) return send;
  const address = document.querySelector<HTMLMetaElement>('meta[name="events-worker"]')?.content;
  if (typeof SharedWorker === "undefined" || address === undefined) {
    const tab: Port = { postMessage: (message) => heard(message), onmessage: null };
    openShares().join(tab);
    send = (request) => tab.onmessage?.({ data: request } as MessageEvent<Request>);
    return send;
  }
  const { port } = new SharedWorker(address, { type: "module", name: "svc events" });
  port.onmessage = ({ data }: MessageEvent<Answer>) => heard(data);
  addEventListener("pagehide", () => port.postMessage({ type: "leave" } satisfies Request));
  send = (request) => port.postMessage(request);
  return send;
}

// Before the pages of another person open anything.
onIdentity(() => {
  subscribers.clear();
  send?.({ type: "leave" });
});

function heard(answer: Answer): void {
  switch (answer.type) {
    case "event":
      subscribers.get(answer.id)?.event(answer.event);
      return;
    case "state":
      subscribers.get(answer.id)?.state(answer.state);
      return;
    case "end":
      subscribers.get(answer.id)?.state(answer.status === null && answer.reason === null ? "ended" : "refused");
      return;
    case "token":
      lend(answer).catch(() => {});
  }
}

/** Lends the token, for a stream of the person who is signed in here now. */
async function lend({ ask, identity, refused }: Extract<Answer, { type: "token" }>): Promise<void> {
  const fresh = identityNow() === identity ? await token(refused).catch(() => null) : null;
  // It may have taken a while, and another person may have signed in.
  const now = identityNow();
  send?.({ type: "token", ask, identity: now, token: now === identity ? fresh : null });
}

/**
 * Follows a stream while the component is there.
 * @param path of the service; null: nothing is followed
 * @param after the id of the last event that is known already
 * @param replays false: what another tab heard before is not told again; for streams that tell of the present alone
 * @param hear called for each event, in order, each once
 */
export function useStream(
  path: string | null,
  after: string | null,
  hear: (event: StreamedEvent) => void,
  replays = true,
): Connection {
  const me = useMe();
  const [state, setState] = useState<Connection>("connecting");
  const listener = useRef(hear);
  listener.current = hear;
  const identity = identityOf(me);
  // A stream goes on by itself: only where it is opened anew does it begin behind `after`.
  const begin = useRef(after);
  begin.current = after;
  useEffect(() => {
    if (path === null) return;
    const id = nextId++;
    const request = connect();
    subscribers.set(id, { event: (event) => listener.current(event), state: setState });
    request({ type: "open", id, url: serviceUrl, identity, path, after: begin.current, replays });
    return () => {
      subscribers.delete(id);
      request({ type: "close", id });
    };
  }, [path, identity, replays]);
  return state;
}
