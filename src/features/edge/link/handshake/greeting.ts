/** The handshake: whether a hello is that of a host, and what answers it. */
import type { KeyObject } from "node:crypto";
import { readBase64 } from "../../../../../actors/edge/base64.ts";
import { readBody, readFrame } from "../../../../../actors/edge/frame-text.ts";
import { closes, frameLimits, Hello, type Welcome } from "../../../../../actors/edge/frames.ts";
import { compareVersions } from "../../../../../actors/edge/version.ts";
import type { HelloAsked, HelloReply } from "../../../../../actors/edge-host/messages.ts";
import { iso } from "../../../../../actors/kernel/time.ts";
import { spkiOf } from "../../../../../actors/seal/public-key.ts";
import { ed25519Key } from "../../../../lib/ed25519.ts";
import type { KeyedHost } from "../../hosts/port.ts";
import type { Link, LinkedHost } from "../link.ts";
import { isSignedUp } from "../signed.ts";
import type { HeldKeys } from "./service-keys.ts";

export type Welcomed = Extract<HelloReply, { outcome: "welcome" }>;

export interface GreetingOptions {
  /** Of this service node. */
  readonly node: string;
  readonly keys: HeldKeys;
  /** Unix ms, the database's. @throws where it is not known */
  readonly now: () => number;
  readonly heartbeatMs: number;
  readonly staleMs: number;
  /** SemVer; null: every daemon is new enough. */
  readonly minVersion: string | null;
  hostOf(publicKey: Uint8Array): Promise<KeyedHost | null>;
  /** Has the host's next key take the place of its current one. @returns false: it is not the next one any more */
  promote(host: KeyedHost, publicKey: Uint8Array): Promise<boolean>;
  /** @param isFresh read now; else it may be older than the youngest nodes */
  liveNodes(isFresh: boolean): Promise<readonly string[]>;
  /** Has the host's actor take it. */
  ask(host: KeyedHost, hello: HelloAsked): Promise<HelloReply>;
  /** A hello that was rightly signed by a key that the host has left. */
  formerKey(host: KeyedHost): void;
  /** The host is this link's; its welcome has not gone out yet. */
  taken(link: Link, host: LinkedHost, hello: Hello, reply: Welcomed): void;
  /** The link is open. */
  welcomed(link: Link, reply: Welcomed): void;
  counted(result: string): void;
}

/** A proved hello. */
interface Proved {
  readonly hello: Hello;
  readonly publicKey: Uint8Array;
  readonly host: KeyedHost;
  readonly linked: LinkedHost;
}

/** So often a host may name a node that is not known here; each time its link has moved meanwhile. */
const maxLooks = 3;

/** How long a daemon that comes while a store is away is sent away, ms. */
const retryAfter = { leastMs: 1_000, mostMs: 30_000 };
export const randomRetry = (): number =>
  Math.floor(retryAfter.leastMs + Math.random() * (retryAfter.mostMs - retryAfter.leastMs));

export function createGreeting(options: GreetingOptions) {
  const { keys, now, minVersion, counted } = options;

  /** @returns why it is refused */
  async function proved(link: Link, text: string): Promise<Proved | keyof typeof refusals> {
    const signed = signedHello(link, text);
    if (typeof signed === "string") return signed;
    const { hello, publicKey, key, connection } = signed;
    const [host, signing] = await Promise.all([options.hostOf(publicKey), keys.common(hello.service_kids)]);
    if (host === null || host.id !== hello.node_id) return "unknown_key";
    if (host.state === "dropped") {
      options.formerKey(host);
      return "former_key";
    }
    if (signing === null) return "no_common_key";
    const { id, tenant, name } = host;
    return { hello, publicKey, host, linked: { id, tenant, name, key, connection, signing } };
  }

  function revoked(link: Link, linked: LinkedHost, at: number): void {
    counted("revoked");
    link.answer(linked, "revoked", { node_id: linked.id, revoked_at: iso(at) });
    link.close(closes.revoked, "revoked");
  }

  const welcomeBody = (epoch: number): Welcome => ({
    epoch,
    server_time: iso(now()),
    heartbeat_ms: options.heartbeatMs,
    stale_ms: options.staleMs,
    output_window: frameLimits.outputWindow,
    max_frame_bytes: frameLimits.maxFrameBytes,
    min_version: minVersion,
    service_keys: [...keys.all()],
  });

  function refuse(link: Link, why: keyof typeof refusals): void {
    counted(why);
    link.close(refusals[why], why);
  }

  /** @returns whether the key that was the next one is the host's only one now */
  async function isPromoted(host: KeyedHost, publicKey: Uint8Array): Promise<boolean> {
    if (await options.promote(host, publicKey)) return true;
    // Another hello under it has come before, or another rotation has dropped it.
    return (await options.hostOf(publicKey))?.state === "current";
  }

  /** Asks the host, with what is known of nodes; whether one that it misses lives is looked up once it is missed. */
  async function asked(host: KeyedHost, hello: Omit<HelloAsked, "live_nodes" | "dead_nodes">) {
    const dead: string[] = [];
    let live = await options.liveNodes(false);
    for (let look = 0; look < maxLooks; look++) {
      const reply = await options.ask(host, { ...hello, live_nodes: [...live], dead_nodes: [...dead] });
      if (reply.outcome !== "unknown_node") return reply;
      live = await options.liveNodes(true);
      if (!live.includes(reply.node)) dead.push(reply.node);
    }
    throw new Error("the link of the host moves");
  }

  async function greet(link: Link, text: string): Promise<void> {
    const found = await proved(link, text);
    if (typeof found === "string") {
      refuse(link, found);
      return;
    }
    if (link.phase !== "greeting") return;
    const { hello, publicKey, host, linked } = found;
    if (host.revoked_at !== null) {
      revoked(link, linked, host.revoked_at.getTime());
      return;
    }
    if (host.state === "next" && !(await isPromoted(host, publicKey))) {
      options.formerKey(host);
      refuse(link, "former_key");
      return;
    }
    const { journal_id, journal_seq, boot_id, agent_version, slots, capabilities, commands } = hello;
    const reply = await asked(host, {
      ...{ link_id: link.id, node: options.node },
      ...{ journal_id, journal_seq, boot_id, agent_version, slots, capabilities, commands },
      outdated: minVersion !== null && compareVersions(agent_version, minVersion) < 0,
    });
    if (reply.outcome === "revoked") {
      revoked(link, linked, reply.revoked_at);
      return;
    }
    if (reply.outcome === "superseded") {
      counted("superseded");
      link.close(closes.superseded, "superseded");
      return;
    }
    counted("welcome");
    options.taken(link, linked, hello, reply);
    if (link.phase !== "greeting") return;
    link.welcome(linked, reply.epoch, welcomeBody(reply.epoch));
    options.welcomed(link, reply);
  }

  /** Answers a daemon's first message. Never throws. */
  return (link: Link, text: string): void => {
    greet(link, text).catch(() => {
      counted("failed");
      link.overloaded(randomRetry());
    });
  };
}

const refusals = {
  malformed: closes.protocol,
  wrong_proof: closes.notAuthenticated,
  unknown_key: closes.notAuthenticated,
  former_key: closes.notAuthenticated,
  no_common_key: closes.notAuthenticated,
} as const;

/** What only the signature of a hello proves: that its key is the sender's. */
function signedHello({ serverNonce }: Link, text: string) {
  const frame = readFrame(text);
  const hello = frame?.t === "hello" && frame.signature?.s === 1 ? readBody(Hello, frame.b) : null;
  if (frame === null || hello === null) return "malformed";
  const publicKey = readBase64(hello.public_key, 32);
  const key = publicKey === null ? null : keyOf(publicKey);
  const connection = { hostId: hello.node_id, serverNonce, clientNonce: hello.client_nonce };
  if (publicKey === null || key === null || !isSignedUp(key, connection, frame)) return "wrong_proof";
  return { hello, publicKey, key, connection };
}

/** Whether it is a key to trust was looked at as its host enrolled, without which no hello by it passes. */
function keyOf(raw: Uint8Array): KeyObject | null {
  try {
    return ed25519Key(spkiOf(raw));
  } catch {
    return null;
  }
}
