/** The token that requests to a vault carry: given and renewed, or had for a pod's service account. */
import { readFile } from "node:fs/promises";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import type { Secret } from "../../lib/secret.ts";
import { type VaultTransport, VaultUnavailable } from "./transport.ts";

export type VaultAuth =
  | { readonly method: "token"; readonly token: Secret }
  | { readonly method: "kubernetes"; readonly role: string; readonly mount: string; readonly tokenFile: string };

interface Held {
  readonly token: string;
  /** When to renew it, Unix ms; null: it does not end. */
  readonly renewAt: number | null;
  /** When it ends, Unix ms; null: never. */
  readonly endsAt: number | null;
  readonly renewable: boolean;
}

/** Between tries to renew a token that is due, ms. */
const againMs = 15_000;

export class VaultSession {
  #held: Held | null = null;
  #getting: Promise<Held> | null = null;
  #renewing = false;

  constructor(
    private readonly send: VaultTransport,
    private readonly auth: VaultAuth,
    /** Unix milliseconds. */
    private readonly now: () => number,
  ) {}

  /** @throws VaultUnavailable when there is none to be had */
  async token(): Promise<string> {
    const held = this.#held;
    if (held !== null && (held.endsAt === null || held.endsAt > this.now())) return held.token;
    this.#getting ??= this.#get().finally(() => {
      this.#getting = null;
    });
    this.#held = await this.#getting;
    return this.#held.token;
  }

  /** The server refused this token: the next request gets another one, where one can be had. */
  refused(token: string): boolean {
    if (this.auth.method === "token" || this.#held?.token !== token) return this.auth.method !== "token";
    this.#held = null;
    return true;
  }

  /** Renews the token when half of its time is over; called now and then. @throws VaultUnavailable */
  async keep(): Promise<void> {
    await this.token();
    const held = this.#held;
    if (held === null || held.renewAt === null || held.renewAt > this.now() || this.#renewing) return;
    this.#renewing = true;
    try {
      this.#held = held.renewable ? await this.#renewed(held) : await this.#get();
    } finally {
      this.#renewing = false;
    }
  }

  async #get(): Promise<Held> {
    if (this.auth.method === "token") {
      const token = this.auth.token.reveal();
      const { status, body } = await this.#ask("GET", "auth/token/lookup-self", token);
      const data = status === 200 && isObject(body) ? body.data : null;
      if (!isObject(data)) throw new VaultUnavailable("The vault refuses the token", status);
      return this.#heldOf(token, data.ttl, data.renewable);
    }
    const { role, mount, tokenFile } = this.auth;
    const jwt = await readFile(tokenFile, "utf8").catch(() => {
      throw new VaultUnavailable("The service account's token cannot be read");
    });
    const path = `auth/${mount.split("/").map(encodeURIComponent).join("/")}/login`;
    return this.#ofLogin(await this.#ask("POST", path, null, { role, jwt: jwt.trim() }));
  }

  async #renewed(held: Held): Promise<Held> {
    try {
      return this.#ofLogin(await this.#ask("POST", "auth/token/renew-self", held.token, {}));
    } catch (error) {
      // At its longest life, or revoked: another one, where one can be had.
      if (this.auth.method === "kubernetes") return this.#get();
      this.#held = { ...held, renewAt: this.now() + againMs };
      throw error;
    }
  }

  #ofLogin({ status, body }: { readonly status: number; readonly body: Json }): Held {
    const auth = status === 200 && isObject(body) ? body.auth : null;
    if (!isObject(auth) || typeof auth.client_token !== "string") {
      throw new VaultUnavailable("The vault gave no token", status);
    }
    return this.#heldOf(auth.client_token, auth.lease_duration, auth.renewable);
  }

  #heldOf(token: string, seconds: Json | undefined, renewable: Json | undefined): Held {
    const ms = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : null;
    const now = this.now();
    return {
      token,
      renewAt: ms === null ? null : now + ms / 2,
      endsAt: ms === null ? null : now + ms,
      renewable: renewable === true,
    };
  }

  /** Tokens are of the root namespace. */
  async #ask(method: "GET" | "POST", path: string, token: string | null, body?: unknown) {
    const answer = await this.send({ method, path, token, namespace: null, ...(body === undefined ? {} : { body }) });
    // JSON by its parser.
    return { status: answer.status, body: answer.body as Json };
  }
}
