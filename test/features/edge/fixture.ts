/** A node with callers of several kinds, and daemons that enroll at it. */
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import { enrollmentMessage, rotationMessage } from "../../../actors/edge/signing.ts";
import { publicHalf, signed } from "../../actors/edge/vectors.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

export type Headers = Readonly<Record<string, string>>;

export const newKey = (): KeyObject => generateKeyPairSync("ed25519").privateKey;

/** Status and code, as tests compare refusals. */
export const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.code];

export interface EnrolledHost {
  readonly id: string;
  readonly key: KeyObject;
  /** That it pins. */
  readonly serviceKeys: readonly { readonly kid: string; readonly public_key: string }[];
}

export class EdgeFixture {
  #addresses = 0;

  constructor(
    readonly stores: TestStores,
    readonly node: NodeProcess,
  ) {}

  static async open(options: { readonly program?: string } = {}, own?: TestStores): Promise<EdgeFixture> {
    const stores = own ?? (await freshStores());
    // Tests name the addresses of daemons: each may fail a few times a minute.
    return new EdgeFixture(
      stores,
      await startNodeProcess(stores, { ...options, env: { SVC_TRUSTED_PROXIES: "127.0.0.1", SVC_PUBLIC_URL: "" } }),
    );
  }

  async close(): Promise<void> {
    await this.node.dispose();
    await this.stores.dispose();
  }

  /** A user of a tenant's realm. The first of a tenant owns it. */
  user = async (tenant: string, username: string, fields: Headers = {}): Promise<Headers> => ({
    Authorization: `Bearer ${await this.node.token({ username, ...fields }, `tenant-${tenant}`)}`,
  });

  consumer = async (username: string, fields: Headers = {}): Promise<Headers> => ({
    Authorization: `Bearer ${await this.node.token({ username, ...fields }, "svc-consumer")}`,
  });

  operator = async (role: "admin" | "operator" | "readonly"): Promise<Headers> => {
    const fields = { grant_type: "password", username: role, password: "dev", client_id: "", client_secret: "" };
    return { Authorization: `Bearer ${await this.node.token(fields, "svc-system")}` };
  };

  call = (method: string, path: string, headers: Headers, body?: unknown): Promise<Answer> =>
    this.node.call(method, `/v1/edge/${path}`, body, headers);

  /** A fresh token's text. */
  async token(headers: Headers, body: object = {}): Promise<string> {
    const answer = await this.call("POST", "enrollment-tokens", headers, body);
    if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.token;
  }

  /** @param address of the daemon; another one each time when absent */
  enroll(token: string, key: KeyObject, body: object = {}, address = this.address()): Promise<Answer> {
    const public_key = publicHalf(key);
    const digest = createHash("sha256").update(token).digest("hex");
    const signature = signed(key, enrollmentMessage(public_key, digest));
    return this.daemon("enroll", { token, public_key, signature, ...body }, address);
  }

  /** A host that has just enrolled. */
  async host(headers: Headers, body: object = {}): Promise<EnrolledHost> {
    const key = newKey();
    const answer = await this.enroll(await this.token(headers, body), key);
    if (answer.status !== 200) throw new Error(`no host: ${answer.status} ${JSON.stringify(answer.body)}`);
    return { id: answer.body.node_id, key, serviceKeys: answer.body.service_keys };
  }

  rotate(id: string, from: KeyObject, to: KeyObject, issued_at = Math.floor(Date.now() / 1000)): Promise<Answer> {
    const new_public_key = publicHalf(to);
    const text = rotationMessage(id, new_public_key, issued_at);
    const signatures = { signature_old: signed(from, text), signature_new: signed(to, text) };
    return this.daemon("rotate-key", { node_id: id, new_public_key, issued_at, ...signatures });
  }

  /** Without a caller's token. */
  daemon = (path: string, body: object, address = this.address()): Promise<Answer> =>
    this.node.call("POST", `/v1/edge/daemon/${path}`, body, { Authorization: "", "X-Forwarded-For": address });

  address = (): string => `10.0.${this.#addresses >> 8}.${this.#addresses++ & 255}`;
}
