/** Two nodes on the same stores, with callers of several kinds. */
import { manifest } from "../../harness/manifests.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

export type Headers = Readonly<Record<string, string>>;

export class KeysFixture {
  private constructor(
    readonly stores: TestStores,
    readonly node: NodeProcess,
    readonly other: NodeProcess,
  ) {}

  static async open(): Promise<KeysFixture> {
    const stores = await freshStores();
    const [node, other] = await Promise.all([startNodeProcess(stores), startNodeProcess(stores)]);
    return new KeysFixture(stores, node, other);
  }

  async close(): Promise<void> {
    await Promise.all([this.node.dispose(), this.other.dispose()]);
    await this.stores.dispose();
  }

  /** A user of a tenant's realm. The first of a tenant owns it. */
  user = async (tenant: string, username: string, fields: Headers = {}): Promise<Headers> =>
    bearer(await this.node.token({ username, ...fields }, `tenant-${tenant}`));

  consumer = async (sub: string, fields: Headers = {}): Promise<Headers> =>
    bearer(await this.node.token({ username: sub, sub, ...fields }, "svc-consumer"));

  operator = async (role: "admin" | "operator" | "readonly"): Promise<Headers> =>
    bearer(
      await this.node.token(
        { grant_type: "password", username: role, password: "dev", client_id: "", client_secret: "" },
        "svc-system",
      ),
    );

  /** A new key as its maker gets it. */
  async key(headers: Headers, body: object = {}): Promise<{ readonly id: string; readonly headers: Headers }> {
    const { status, body: made } = await this.node.call("POST", "/v1/api-keys", { name: "k", ...body }, headers);
    if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(made)}`);
    return { id: made.id, headers: bearer(made.api_key) };
  }

  async agent(headers: Headers): Promise<string> {
    const { body } = await this.node.call("POST", "/v1/agents", manifest(), headers);
    return body.agent_id;
  }

  /** An open stream of an agent's events, which nothing but its holder's end ends. */
  async stream(node: NodeProcess, agentId: string, headers: Headers): Promise<{ ended: boolean; close(): void }> {
    const abort = new AbortController();
    const response = await fetch(`${node.url}/v1/agents/${agentId}/events`, { headers, signal: abort.signal });
    if (response.status !== 200) throw new Error(`no stream: ${response.status} ${await response.text()}`);
    const opened = { ended: false, close: () => abort.abort() };
    void response
      .text()
      .catch(() => {})
      .finally(() => {
        opened.ended = true;
      });
    return opened;
  }
}

export const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });

/** Status and code, as tests compare refusals. */
export const told = ({ status, body }: Answer): readonly unknown[] => [status, body?.code];
