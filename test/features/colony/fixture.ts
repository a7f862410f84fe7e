/** A node with a mail server, and the people of tests of colonies: each with an address, called by name. */
import type { Answer, NodeProcess } from "../../harness/node/node-process.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { SmtpServer } from "../../harness/outside/smtp.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

export type Headers = Readonly<Record<string, string>>;

/** Set by one test for the next: each test has tenants and people of its own. */
let people = 0;

export class ColonyFixture {
  private constructor(
    readonly stores: TestStores,
    readonly smtp: SmtpServer,
    readonly node: NodeProcess,
  ) {}

  static async open(): Promise<ColonyFixture> {
    const [stores, smtp] = await Promise.all([freshStores(), SmtpServer.open()]);
    const node = await startNodeProcess(stores, { env: { SVC_SMTP_URL: smtp.url } });
    return new ColonyFixture(stores, smtp, node);
  }

  async close(): Promise<void> {
    await this.node.dispose();
    await this.smtp.stop();
    await this.stores.dispose();
  }

  /** A consumer of their own. */
  async person(name: string, fields: Headers = {}): Promise<Person> {
    people += 1;
    const username = `${name}-${people}`;
    const email = `${username}@example.test`;
    const token = await this.node.token(
      { username, email, sub: username, tier: "business", ...fields },
      "svc-consumer",
    );
    return new Person(this, username, email, { Authorization: `Bearer ${token}` });
  }

  /** A user of a tenant's own realm. */
  async tenantUser(tenant: string, name: string, fields: Headers = {}): Promise<Person> {
    const email = `${name}@${tenant}.test`;
    const token = await this.node.token({ username: name, email, sub: name, ...fields }, `tenant-${tenant}`);
    return new Person(this, name, email, { Authorization: `Bearer ${token}` });
  }

  /** The operator with role admin, in a tenant. */
  async operator(tenant: string): Promise<Headers> {
    const fields = { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" };
    return { Authorization: `Bearer ${await this.node.token(fields, "svc-system")}`, "X-Svc-Tenant": tenant };
  }
}

export class Person {
  constructor(
    private readonly fixture: ColonyFixture,
    readonly userId: string,
    readonly email: string,
    readonly headers: Headers,
  ) {}

  call(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    return this.fixture.node.call(method, path, body, { ...this.headers, ...headers });
  }

  /** The same person in a team. */
  in(team: string): Person {
    return new Person(this.fixture, this.userId, this.email, { ...this.headers, "X-Svc-Team": team });
  }

  /** What is answered, when it is no refusal. */
  async done(method: string, path: string, body?: unknown) {
    const answer = await this.call(method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Status and code of a refusal. */
  async refused(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<string> {
    const { status, body: answer } = await this.call(method, path, body, headers);
    return `${status} ${answer?.code}`;
  }

  async team(display_name = "Payments", tier = "business"): Promise<{ readonly id: string; readonly slug: string }> {
    return this.done("POST", "/v1/teams", { display_name, tier });
  }

  /** Invites and accepts. */
  async bring(other: Person, role = "member"): Promise<void> {
    const { token } = await this.done("POST", "/v1/colony/members", { email: other.email, role });
    await other.done("POST", "/v1/colony/invitations/accept", { token });
  }
}
