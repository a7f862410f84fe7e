/** A node that takes deliveries in, and what tests do with it over and over. */

import { createHmac } from "node:crypto";
import { migrate } from "../../../src/store/migrate.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import type { Answer } from "../../harness/node/node-process.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { setRates } from "../../harness/rates.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { NodeFixture } from "../workflows/definitions/node-fixture.ts";

/** The secret of the known signatures. */
export const secret = "contract-test-secret";

export const signed = (body: string | Uint8Array, key = secret): string =>
  `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;

const noop = { kind: "System", command: "noop" };

export class StimuliFixture extends NodeFixture {
  static override async open(env: Readonly<Record<string, string>> = {}): Promise<StimuliFixture> {
    const stores = await freshStores();
    await migrate(stores.sql, stores.schema);
    await limit(stores, "svc-system", 1_000_000);
    return new StimuliFixture(stores, await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn", ...env } }));
  }

  /** A workflow that ends at once, in any tenant. */
  async workflow(name: string, tenant = "svc-system", metadata: object = {}): Promise<void> {
    const manifest = {
      apiVersion: "svc.dev/v1",
      kind: "Workflow",
      metadata: { name, ...metadata },
      spec: { initial_state: "A", states: { A: { ...noop, transitions: [] } } },
    };
    await this.as(tenant, "POST", "/v1/workflows", manifest);
  }

  async route(fields: object, tenant = "svc-system"): Promise<{ id: string; url: string; secret?: string }> {
    return (await this.as(tenant, "POST", "/v1/stimulus-routes", fields)).body;
  }

  /** A call in a tenant. @throws unless it goes well */
  async as(tenant: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.node.call(method, path, body, { "X-Tenant-Id": tenant });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** A delivery; signed by the scheme `svc` unless a signature is given, or null for none. */
  async hook(
    source: string,
    body: string | Uint8Array<ArrayBuffer>,
    { signature, headers = {} }: { signature?: string | null; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answer> {
    const sent = signature === undefined ? signed(body) : signature;
    const response = await fetch(`${this.node.url}/v1/webhooks/${source}`, {
      method: "POST",
      headers: { ...(sent === null ? {} : { "X-Svc-Signature": sent }), ...headers },
      body,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
  }

  stimulus(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.node.call("POST", "/v1/stimuli", body, headers);
  }

  /** Stimuli of a source that are recorded. */
  async stimuliOf(source: string): Promise<LooseJson[]> {
    return (await this.ok("GET", `/v1/stimuli?source=${source}`)).items;
  }

  /** Waits for a stimulus to end. @returns its record */
  settled(id: string): Promise<LooseJson> {
    return this.until(async () => {
      const record = await this.ok("GET", `/v1/stimuli/${id}`);
      return record.status === "received" ? null : record;
    });
  }

  until<T>(look: () => Promise<T | null>): Promise<T> {
    return until(look, { timeoutMs: 60_000, what: "it to be so", everyMs: 50 });
  }

  /** Runs of a workflow. */
  async runsOf(workflow: string): Promise<number> {
    return (await this.ok("GET", `/v1/workflows/executions?workflow_name=${workflow}&limit=500`)).items.length;
  }
}

/** Sets what a tenant may start, per bucket. */
export const limit = (stores: TestStores, tenant: string, most: number): Promise<void> =>
  setRates(stores.sql, tenant, "workflow_execution", most);
