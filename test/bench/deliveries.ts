/** Signed deliveries for the stimuli bench: who gets them, what they look like, and whether every one started a run. */
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { systemTenant } from "../../actors/identity/identity.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { liftRates } from "../harness/rates.ts";
import { until } from "../harness/until.ts";
import type { BenchService } from "./service.ts";
import type { BenchStores } from "./stores.ts";

const tenants: readonly string[] = [systemTenant, ...Array.from({ length: 19 }, (_, index) => `hooks-${index}`)];
/** One for all of them, so that the floor verifies the same signatures. */
const secret = "bench-secret-0123456789";
const bodiesPerTenant = 10;

/** What is sent, but for the key. */
export interface Delivery {
  readonly tenant: string;
  readonly body: string;
  readonly signature: string;
}

/** Bodies of some 230 bytes, signed; those of a tenant follow each other in turn. */
export const deliveries: readonly Delivery[] = Array.from({ length: tenants.length * bodiesPerTenant }, (_, index) => {
  const body = JSON.stringify({
    ref: "refs/heads/main",
    number: index,
    repository: { full_name: "acme/shop", default_branch: "main" },
    sender: { login: "octocat", id: 583_231 },
    message: "Prices of the summer sale, rounded as agreed; see the ticket for the list".padEnd(80, "."),
  });
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return { tenant: tenants[index % tenants.length] as string, body, signature };
});

/** Every tenant's own source, so that a delivery is verified against one secret. */
export const sourceOf = (tenant: string, acknowledge: "received" | "routed"): string => `${acknowledge}-${tenant}`;

/** Lifts the rates, registers the workflow and makes the routes of every tenant. */
export async function prepare(service: BenchService, sql: Sql): Promise<void> {
  const workflow = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "intake" },
    spec: { initial_state: "TAKEN", states: { TAKEN: { kind: "System", command: "noop", transitions: [] } } },
  };
  for (const tenant of tenants) {
    await liftRates(sql, tenant);
    await made(service, tenant, "/v1/workflows?force=true", workflow);
    for (const acknowledge of ["received", "routed"] as const) {
      const source = sourceOf(tenant, acknowledge);
      await made(service, tenant, "/v1/stimulus-routes", { source, secret, acknowledge, workflow: "intake" });
    }
  }
}

/** A source whose deliveries an agent chooses the workflow for. */
export async function prepareRouter(service: BenchService, agent: object): Promise<string> {
  await made(service, systemTenant, "/v1/agents?force=true", agent);
  const name = (agent as { metadata: { name: string } }).metadata.name;
  const router = await fetch(`${service.url}/v1/stimulus-routes/router`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${service.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ router_agent: name }),
  });
  if (!router.ok) throw new Error(`router: ${router.status} ${await router.text()}`);
  await made(service, systemTenant, "/v1/stimulus-routes", { source: "asked", secret });
  return "asked";
}

async function made(service: BenchService, tenant: string, path: string, body: object): Promise<void> {
  const answer = await service.post(path, body, { "X-Tenant-Id": tenant });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Sends a delivery under a key. @returns the answer's status and text */
export async function deliver(
  url: string,
  { body, signature }: Pick<Delivery, "body" | "signature">,
  key: string,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Svc-Signature": signature, "X-Idempotency-Key": key },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

/** The `index`-th delivery, under a key of its own. @throws when it is not accepted */
export async function deliverNext(
  service: { readonly url: string },
  acknowledge: "received" | "routed",
  index: number,
): Promise<string> {
  const delivery = deliveries[index % deliveries.length] as Delivery;
  const url = `${service.url}/v1/webhooks/${sourceOf(delivery.tenant, acknowledge)}`;
  const { status, text } = await deliver(url, delivery, crypto.randomUUID());
  if (status !== 200 && status !== 202) throw new Error(`delivery: ${status} ${text}`);
  return text;
}

/**
 * Waits until every stimulus there is has started its run.
 * @param accepted how many were answered with a 2xx
 * @throws when stimuli, runs and answers are not equally many, each run with a stimulus of its own
 */
export async function allStarted(sql: Sql, accepted: number, timeoutMs = 300_000): Promise<void> {
  const waiting = async () => {
    const [row] = await sql<{ none: boolean }[]>`
      select not exists (select from stimuli where status = 'received') as none`;
    return row?.none === true;
  };
  await until(waiting, { what: "every stimulus to be processed", timeoutMs, everyMs: 50 });
  const [row] = await sql<{ stimuli: number; classified: number; runs: number; stimuli_of_runs: number }[]>`
    select (select count(*)::int from stimuli) as stimuli,
      (select count(*)::int from stimuli where status = 'classified') as classified,
      (select count(*)::int from workflow_runs where stimulus_id is not null) as runs,
      (select count(distinct stimulus_id)::int from workflow_runs) as stimuli_of_runs`;
  const counts = { accepted, ...row };
  if (new Set(Object.values(counts)).size > 1) throw new Error(`not every one started once: ${JSON.stringify(counts)}`);
}

export interface BareIntake {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

/** The floor, a process of its own. */
export async function startBareIntake({ redisUrl }: BenchStores): Promise<BareIntake> {
  const program = join(import.meta.dir, "floors/bare-intake.ts");
  const child = Bun.spawn([process.execPath, program, redisUrl, secret], { stdout: "pipe", stderr: "inherit" });
  const line = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(line.value));
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.kill() };
}
