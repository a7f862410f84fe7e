/** A node and what tests of credentials do with it over and over. */
import type { Answer } from "../../harness/node/node-process.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

/** Headers of a caller. */
export type Caller = Readonly<Record<string, string>>;

export class CredentialFixture {
  private constructor(readonly executions: ExecutionFixture) {}

  static async open(env: Readonly<Record<string, string>> = {}): Promise<CredentialFixture> {
    return new CredentialFixture(await ExecutionFixture.open(env));
  }

  close(): Promise<void> {
    return this.executions.close();
  }

  get node() {
    return this.executions.node;
  }
  get sql() {
    return this.executions.stores.sql;
  }

  bearer = async (fields: Readonly<Record<string, string>>, realm: string): Promise<Caller> => ({
    Authorization: `Bearer ${await this.node.token(fields, realm)}`,
  });
  /** A person with a tenant of their own. */
  consumer = (username: string): Promise<Caller> => this.bearer({ username }, "svc-consumer");
  /** A user of the tenant `acme`. @param role none: what is stored, or the default */
  member = (username: string, role = "tenant:member"): Promise<Caller> =>
    this.bearer({ username, role }, "tenant-acme");

  call = (who: Caller, method: string, path: string, body?: unknown, headers: Caller = {}): Promise<Answer> =>
    this.node.call(method, `/v1/credentials${path}`, body, { ...who, ...headers });

  /** Stores one of a known value. @returns its record */
  made = async (who: Caller, body: Record<string, unknown> = {}): Promise<Answer["body"]> => {
    const answer = await this.call(who, "POST", "/api-keys", { provider: "crm", value: "the-value", ...body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };

  /** Everything that PostgreSQL holds, as text. */
  dump = async (): Promise<string> => {
    const tables = await this.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`;
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const rows = await this.sql<{ text: string }[]>`select t::text as text from ${this.sql(name)} t`;
        return rows.map(({ text }) => text).join("\n");
      }),
    );
    return texts.join("\n");
  };
}
