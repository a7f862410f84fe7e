/**
 * The egress proxy: the only way out of an agent's sandbox. Serves HTTP/1.1 requests in absolute form and CONNECT,
 * each by the policy of the execution that its credentials belong to.
 */
import type { Socket } from "node:net";
import { LRUCache } from "lru-cache";
import { readHost, splitPort, writeHost } from "../../../actors/policy/network/host.ts";
import type { Admission, ConnectionSlot, ProxyClient } from "./admission.ts";
import { type Destination, destinationOf, type EgressEnvironment, EgressFailed, EgressRefused } from "./destination.ts";
import { dial } from "./dial.ts";
import { forward, type Upstream } from "./forward.ts";
import { MalformedHead, maxRequestHead, parseRequestHead, type RequestHead, valuesOf } from "./message-head.ts";
import { Source, SourceFailure, write } from "./source.ts";
import { clientHelloRefusal, join } from "./tunnel.ts";

export interface ProxyOptions<C extends ProxyClient> {
  readonly admission: Admission<C>;
  readonly outside: EgressEnvironment;
  /** Hears of every refusal before the client does. Must not reject. */
  refused(client: C, refusal: EgressRefused): Promise<void>;
  /** Hears of every request's outcome, for counting. */
  answered(outcome: Outcome): void;
  /** Something that should not have happened. */
  failed(error: unknown): void;
  /** How long a client may take for the head of a request, once it is connected or has begun; 10 s when absent. */
  readonly headMs?: number;
}
export type Outcome = "forwarded" | "refused" | "unauthenticated" | "malformed" | "failed";

const usualHeadMs = 10_000;
/** Between two requests, ms. */
const idleMs = 60_000;
/** Connections of one listener that have not shown credentials; past this number the oldest is closed. */
const maxUnauthenticated = 512;
/** How long a refused client may take to read why, ms. */
const lingerMs = 2_000;

/** An answer of the proxy's own, for a request that it does not pass on. */
class ProxyRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly outcome: Outcome,
    readonly extras: Readonly<Record<string, unknown>> = {},
    readonly headers: readonly string[] = [],
  ) {
    super(message);
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  407: "Proxy Authentication Required",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

export interface Proxy {
  /**
   * What serves the connections of one listener, which must stay half-open when the client ends its side. Those that have not
   * shown credentials displace only each other.
   */
  acceptor(): (socket: Socket) => void;
  cutAll(): void;
}

export function createProxy<C extends ProxyClient>(options: ProxyOptions<C>): Proxy {
  const clients = new Set<Socket>();
  const acceptor = () => {
    const unauthenticated = new LRUCache<Socket, true>({
      max: maxUnauthenticated,
      dispose: (_, socket, reason) => {
        if (reason === "evict") socket.destroy();
      },
    });
    return (socket: Socket) => {
      clients.add(socket);
      unauthenticated.set(socket, true);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        clients.delete(socket);
        unauthenticated.delete(socket);
      });
      const client = new Connection(socket, options, () => unauthenticated.delete(socket));
      client.serve().catch((error: unknown) => {
        socket.destroy();
        options.failed(error);
      });
    };
  };
  return {
    acceptor,
    cutAll: () => {
      for (const socket of clients) socket.destroy();
    },
  };
}

class Connection<C extends ProxyClient> {
  private readonly source: Source;
  private admitted: C | null = null;
  private slot: ConnectionSlot | null = null;
  private upstream: Upstream | null = null;

  constructor(
    private readonly socket: Socket,
    private readonly options: ProxyOptions<C>,
    private readonly authenticated: () => void,
  ) {
    this.source = new Source(socket);
    socket.once("close", () => {
      this.upstream?.socket.destroy();
      this.slot?.leave();
    });
  }

  async serve(): Promise<void> {
    for (;;) {
      let request: RequestHead | null = null;
      try {
        request = await this.nextRequest();
        if (request === null) return this.finish();
        const keep = request.method === "CONNECT" ? await this.connect(request) : await this.pass(request);
        if (!keep) return this.finish();
      } catch (error) {
        const answer = await this.answerTo(error);
        if (answer === null) return void this.socket.destroy();
        this.options.answered(answer.outcome);
        // What follows a malformed request, or is left of its body, is not a request.
        const clean = request?.keepAlive === true && request.framing.kind === "none";
        const keep = clean && answer.outcome !== "malformed" && answer.outcome !== "unauthenticated";
        // A client that does not read its answers delays only itself.
        await write(this.socket, Buffer.from(render(answer, keep, request?.method === "HEAD"), "latin1"));
        if (!keep) return this.finish();
      }
    }
  }

  private async nextRequest(): Promise<RequestHead | null> {
    const { headMs = usualHeadMs } = this.options;
    if (!(await this.source.ready(this.admitted === null ? headMs : idleMs))) return null;
    const head = parseRequestHead(await this.source.until("\r\n\r\n", maxRequestHead, headMs));
    await this.authenticate(head);
    return head;
  }

  /** @throws ProxyRefusal 407, 503 */
  private async authenticate({ fields }: RequestHead): Promise<C> {
    const [authorization, ...others] = valuesOf(fields, "proxy-authorization");
    const { admission } = this.options;
    const subject =
      authorization === undefined || others.length > 0 ? null : await admission.admit(authorization).catch(unavailable);
    if (subject === null || (this.admitted !== null && this.admitted.instanceId !== subject.instanceId)) {
      throw new ProxyRefusal(
        407,
        "invalid_token",
        "Credentials of a running execution are needed",
        "unauthenticated",
        {},
        ['Proxy-Authenticate: Basic realm="svc egress"'],
      );
    }
    this.authenticated();
    this.admitted = subject;
    if (this.slot === null) {
      this.slot = admission.enter(subject, () => this.socket.destroy());
      if (this.slot === null) throw new ProxyRefusal(503, "too_many_connections", "Too many connections", "failed");
      // Gone while its credentials were looked at: nothing else would give the slot back.
      if (this.socket.destroyed) {
        this.slot.leave();
        throw new SourceFailure("ended");
      }
    }
    return subject;
  }

  /** Settles where a request goes. @throws EgressRefused, EgressFailed */
  private destination(host: string, port: number): Promise<Destination> {
    if (this.admitted === null) throw new Error("unreachable: authenticated before");
    return destinationOf(this.admitted.policy, "listed", host, port, this.options.outside);
  }

  private async dial({ addresses }: Destination, port: number): Promise<Socket> {
    const socket = await dial(addresses, port);
    const { slot } = this;
    socket.once("close", () => slot?.count(socket.bytesWritten, socket.bytesRead));
    if (this.socket.destroyed) socket.destroy();
    return socket;
  }

  /** CONNECT: checks, connects, then joins both sides once the client has said whom it means. */
  private async connect(request: RequestHead): Promise<false> {
    const target = authorityOf(request.target, null);
    if (request.framing.kind !== "none") throw malformed("CONNECT has no body");
    checkHost(request, target, false);
    const destination = await this.destination(target.host, target.port);
    const upstream = await this.dial(destination, target.port);
    try {
      this.socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      const { anyProtocol } = destination;
      const host = readHost(target.host);
      if (host === null) throw new Error("unreachable: decided before");
      const tunnelTarget = { host: writeHost(host), isName: host.kind === "name", anyProtocol };
      // Where anything may be spoken the server may be the one to begin.
      if (anyProtocol) upstream.pipe(this.socket);
      const refusal = await clientHelloRefusal(this.source, tunnelTarget);
      upstream.unpipe(this.socket);
      if (refusal !== null) {
        await this.note(new EgressRefused(refusal, target.host, target.port));
        this.options.answered("refused");
        this.socket.destroy();
        return false;
      }
      this.options.answered("forwarded");
      await join(this.socket, upstream, this.source.release(), Buffer.alloc(0));
      return false;
    } catch (error) {
      this.socket.destroy();
      if (error instanceof SourceFailure) return false;
      throw error;
    } finally {
      upstream.destroy();
    }
  }

  /** An ordinary request in absolute form. */
  private async pass(request: RequestHead): Promise<boolean> {
    const parts = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(request.target);
    if (parts === null) throw malformed("Only http URLs and CONNECT are served");
    const [, authority = "", rest = ""] = parts;
    const target = authorityOf(authority, 80);
    const path = rest.startsWith("/") ? rest : `/${rest}`;
    if (rest === "" && request.method === "OPTIONS") throw malformed("OPTIONS needs a path");
    checkHost(request, target, request.persistent);
    const { host, port } = target;
    const key = `${host}:${port}`;
    const keep = await forward({
      request,
      path,
      authority: authority.toLowerCase(),
      client: this.source,
      upstream: async (fresh) => {
        // The same host and port under the same policy: decided already.
        const kept = fresh ? null : this.kept(key);
        if (kept !== null) return kept;
        const destination = await this.destination(host, port);
        const socket = await this.dial(destination, port);
        this.upstream = { key, socket, source: new Source(socket) };
        return this.upstream;
      },
    });
    this.options.answered("forwarded");
    return keep;
  }

  private kept(key: string): Upstream | null {
    const { upstream } = this;
    if (upstream === null) return null;
    const { socket, source } = upstream;
    if (upstream.key === key && !socket.destroyed && source.idle) return upstream;
    socket.destroy();
    this.upstream = null;
    return null;
  }

  private async note(refusal: EgressRefused): Promise<void> {
    if (this.admitted !== null) await this.options.refused(this.admitted, refusal);
  }

  /** What the client is told; null when the client is gone. */
  private async answerTo(error: unknown): Promise<ProxyRefusal | null> {
    if (this.socket.destroyed) return null;
    if (error instanceof ProxyRefusal) return error;
    if (error instanceof EgressRefused) {
      await this.note(error);
      const { host, port, reason } = error;
      return new ProxyRefusal(403, "egress_denied", `${host}:${port} is not allowed: ${reason}`, "refused", {
        host,
        port,
        reason,
      });
    }
    if (error instanceof EgressFailed) {
      const status = error.code === "unreachable" ? 504 : 502;
      return new ProxyRefusal(status, `egress_${error.code}`, error.message, "failed");
    }
    if (error instanceof MalformedHead) return malformed(error.message);
    if (error instanceof SourceFailure) {
      return error.kind === "too_long"
        ? new ProxyRefusal(431, "header_too_large", "The request's head is too large", "malformed")
        : null;
    }
    this.options.failed(error);
    return new ProxyRefusal(502, "egress_failed", "The request could not be passed on", "failed");
  }

  /** Says no more, and does not wait long for the client to hear it. */
  private finish(): void {
    this.upstream?.socket.destroy();
    // Its end was told already: nothing would take the timer away, and the timer would keep the socket.
    if (this.socket.destroyed) return;
    this.socket.end();
    const timer = setTimeout(() => this.socket.destroy(), lingerMs);
    this.socket.once("close", () => clearTimeout(timer));
  }
}

const malformed = (message: string): ProxyRefusal => new ProxyRefusal(400, "malformed_request", message, "malformed");

function unavailable(): never {
  throw new ProxyRefusal(503, "service_unavailable", "The service cannot do this now", "failed", {}, [
    "Retry-After: 1",
  ]);
}

interface Authority {
  /** In lower case; IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
}

/** @param usualPort null where the port has to be written @throws ProxyRefusal 400 */
function authorityOf(text: string, usualPort: number | null): Authority {
  // User info, and anything else that two readers could take for different hosts.
  if (!/^[\x21-\x7e]{1,300}$/.test(text) || /[@\\/?#%]/.test(text)) throw malformed("The target is no host and port");
  const { host, port } = splitPort(text);
  const to = port === null ? usualPort : port;
  if (host === "" || to === null || to === undefined) throw malformed("The target is no host and port");
  return { host: host.toLowerCase(), port: to };
}

/** A request has one Host, the one its target names. @throws EgressRefused, ProxyRefusal 400 */
function checkHost({ fields }: RequestHead, target: Authority, required: boolean): void {
  const hosts = valuesOf(fields, "host");
  const [host] = hosts;
  if (hosts.length > 1 || (required && host === undefined)) throw malformed("A request has exactly one Host");
  if (host === undefined) return;
  const { host: name, port } = splitPort(host);
  if (name.toLowerCase() !== target.host || (port ?? target.port) !== target.port || port === undefined) {
    throw new EgressRefused("host_mismatch", target.host, target.port);
  }
}

function render({ status, code, message, extras, headers }: ProxyRefusal, keep: boolean, headOnly: boolean): string {
  const body = JSON.stringify({ error: message, code, ...extras });
  return [
    `HTTP/1.1 ${status} ${reasons[status] ?? "Error"}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    ...(keep ? [] : ["Connection: close"]),
    "",
    headOnly ? "" : body,
  ].join("\r\n");
}
