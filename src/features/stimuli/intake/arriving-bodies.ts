/**
 * How much memory a node gives to bodies of webhooks that are still arriving. Nothing is known of their senders yet, and
 * many senders may share an address: so what counts is what has arrived, not what is announced, and where there is no
 * room left the body that has been under way for longest is given up, not the one that has just begun. Slow bodies keep
 * no other sender's out.
 */
import { unavailable } from "./acceptance.ts";

/** Bytes of all bodies together, and of one client's. */
const mostBytes = 256 * 1_048_576;
const mostOfOne = 64 * 1_048_576;
/** So many bytes of a body take no more than its connection does, and are not counted. */
export const freeBytes = 16_384;

export interface ArrivingBody {
  /** @throws Problem 503 `stimulus_service_unavailable` where there is no room */
  arrived(bytes: number): void;
  /** It has arrived, or does not matter any more. */
  end(): void;
}

export interface ArrivingBodies {
  /**
   * @param client the address it comes from
   * @param giveUp called once when its room is needed for others, with what the sender is refused with
   */
  begin(client: string, giveUp: (refusal: Error) => void): ArrivingBody;
  /** What counts of all that are arriving. */
  bytes(): number;
}

interface Body {
  bytes: number;
  counted: number;
  readonly giveUp: (refusal: Error) => void;
}
interface Client {
  counted: number;
  /** The one that began first comes first. */
  readonly bodies: Set<Body>;
}

export function createArrivingBodies(most = mostBytes, ofOne = mostOfOne, free = freeBytes): ArrivingBodies {
  const clients = new Map<string, Client>();
  let total = 0;

  function remove(name: string, client: Client, body: Body): void {
    if (!client.bodies.delete(body)) return;
    client.counted -= body.counted;
    total -= body.counted;
    if (client.bodies.size === 0) clients.delete(name);
  }

  /** @returns whether there was one to give up */
  function giveUpOldest(name: string, client: Client, but: Body): boolean {
    for (const body of client.bodies) {
      if (body === but || body.counted === 0) continue;
      remove(name, client, body);
      body.giveUp(unavailable());
      return true;
    }
    return false;
  }

  const largest = (): [string, Client] | undefined => {
    let found: [string, Client] | undefined;
    for (const entry of clients) if (found === undefined || entry[1].counted > found[1].counted) found = entry;
    return found;
  };

  function makeRoom(name: string, client: Client, body: Body, bytes: number): void {
    while (client.counted + bytes > ofOne) if (!giveUpOldest(name, client, body)) throw unavailable();
    while (total + bytes > most) {
      const [owner, holder] = largest() ?? [name, client];
      if (!giveUpOldest(owner, holder, body)) throw unavailable();
    }
  }

  return {
    bytes: () => total,
    begin(name, giveUp) {
      const client = clients.get(name) ?? { counted: 0, bodies: new Set<Body>() };
      clients.set(name, client);
      const body: Body = { bytes: 0, counted: 0, giveUp };
      client.bodies.add(body);
      return {
        arrived(bytes) {
          if (!client.bodies.has(body)) return;
          body.bytes += bytes;
          const further = Math.max(0, body.bytes - free) - body.counted;
          if (further === 0) return;
          makeRoom(name, client, body, further);
          body.counted += further;
          client.counted += further;
          total += further;
        },
        end: () => remove(name, client, body),
      };
    },
  };
}
