/** A node with callers of every kind, for the tests of tenants. */
import { manifest, say } from "../../harness/manifests.ts";
import { type Answer, type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores } from "../../harness/stores.ts";

export type Headers = Readonly<Record<string, string>>;
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** A person of the system realm, who has the role of that name. */
const person = { grant_type: "password", password: "dev", client_id: "", client_secret: "" };

export async function openFixture() {
  const stores = await freshStores();
  const node: NodeProcess = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
  const bearer = async (fields: Headers, realm: string): Promise<Headers> => ({
    Authorization: `Bearer ${await node.token(fields, realm)}`,
  });
  const operator = (role: "admin" | "operator" | "readonly") => bearer({ ...person, username: role }, "svc-system");
  const consumer = (sub: string, fields: Headers = {}) => bearer({ username: sub, sub, ...fields }, "svc-consumer");
  const member = (tenant: string, username = "ann") => bearer({ username }, `tenant-${tenant}`);
  const service = (tenant: string, fields: Headers = {}) =>
    bearer(fields, "svc-system").then((headers) => ({ ...headers, "X-Tenant-Id": tenant }));

  /** As an administrator of the platform. */
  async function admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return node.call(method, `/v1/admin/tenants${path}`, body, await operator("admin"));
  }

  return {
    stores,
    node,
    operator,
    consumer,
    member,
    service,
    admin,

    /** An enterprise tenant that no other test uses. */
    async newTenant(fields: Record<string, unknown> = {}): Promise<string> {
      const slug = `org-${crypto.randomUUID().slice(0, 18)}`;
      const { status, body } = await admin("POST", "", { slug, display_name: slug, ...fields });
      if (status !== 201) throw new Error(`no tenant: ${status} ${JSON.stringify(body)}`);
      return slug;
    },

    /** @returns the agent's id */
    async deploy(
      headers: Headers,
      options: Parameters<typeof manifest>[0] = { script: [say("done")] },
    ): Promise<string> {
      const { status, body } = await node.call("POST", "/v1/agents", manifest(options), headers);
      if (status !== 200) throw new Error(`not deployed: ${status} ${JSON.stringify(body)}`);
      return body.agent_id;
    },

    start: (headers: Headers, agent: string, more: Record<string, unknown> = {}) =>
      node.call("POST", "/v1/executions", { agent_id: agent, input: "", ...more }, headers),

    async dispose(): Promise<void> {
      await node.dispose();
      await stores.dispose();
    },
  };
}
