/** Tenants that have a record of every kind, and what others could learn of them: their ids and names. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { enrollmentMessage } from "../../../actors/edge/signing.ts";
import { systemTenant } from "../../../actors/identity/identity.ts";
import { publicHalf, signed } from "../../actors/edge/vectors.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, manifest, say } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";
import { isReference, type Operation, targetOf } from "./operations.ts";

/** In every name and text of the victim. */
export const marker = "quokka";

type Headers = Readonly<Record<string, string>>;

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Makes records that need one another. */
export async function settle(node: NodeProcess, headers: Headers): Promise<void> {
  const made = async (method: string, path: string, body?: unknown, expected = [200, 201, 202]): Promise<LooseJson> => {
    const answer = await node.call(method, path, body, headers);
    if (!expected.includes(answer.status)) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  const look = calls(["fs.list", { path: "/workspace" }]);
  const agent = manifest({
    name: `${marker}-agent`,
    script: [look, say(marker)],
    tools: ["fs.list"],
    runtime: { bootstrap_path: undefined },
  });
  const { agent_id } = await made("POST", "/v1/agents", agent);
  await made("POST", "/v1/executions?wait_seconds=30", { agent_id, input: marker });
  const founder = manifest({
    name: `${marker}-founder`,
    script: [calls(["svc.task.execute", { agent_id: `${marker}-agent`, input: marker }]), say(marker)],
    tools: ["svc.task.execute"],
    runtime: { bootstrap_path: undefined },
    spec: { advanced: { swarm_enabled: true } },
  });
  const { agent_id: founderId } = await made("POST", "/v1/agents", founder);
  await made("POST", "/v1/executions?wait_seconds=30", { agent_id: founderId, input: marker });
  await until(async () => (await made("GET", "/v1/swarms")).items[0]?.status === "dissolved", { what: "the swarm" });
  await made("POST", "/v1/workflows", {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: `${marker}-flow` },
    spec: {
      schedules: [{ name: `${marker}-yearly`, cron: "0 0 1 1 *" }],
      initial_state: "ASK",
      states: {
        ASK: { kind: "Human", prompt: marker, timeout: "1h", transitions: [{ target: "DONE" }] },
        DONE: { kind: "System", command: "noop", transitions: [] },
      },
    },
  });
  await made("POST", "/v1/workflows/temporal/execute", { workflow_name: `${marker}-flow` });
  await until(async () => (await made("GET", "/v1/human-approvals")).items.length > 0, { what: "the approval" });
  await made("POST", "/v1/stimulus-routes", { source: `${marker}-source`, workflow: `${marker}-flow` });
  await made("POST", "/v1/stimuli", { source: `${marker}-source`, content: marker, idempotency_key: marker });
  const { id: volume } = await made("POST", "/v1/volumes", { label: `${marker}-volume` });
  await made("POST", `/v1/volumes/${volume}/files/upload?path=report.txt`, marker);
  const { token } = await made("POST", "/v1/edge/enrollment-tokens", { name: `${marker}-host` });
  const { privateKey } = generateKeyPairSync("ed25519");
  const public_key = publicHalf(privateKey);
  const proof = enrollmentMessage(public_key, createHash("sha256").update(token).digest("hex"));
  const signature = signed(privateKey, proof);
  const { node_id } = await made("POST", "/v1/edge/daemon/enroll", { token, public_key, signature });
  // Its host never comes: it waits for that, and its answer is no stream.
  const run = {
    target: { Node: node_id },
    tool: "cmd.run",
    args: { command: marker },
    policy: { offline_ttl_secs: 600 },
  };
  const accepts = { ...headers, Accept: "application/json" };
  const { status } = await node.call("POST", "/v1/edge/fleet/invoke", run, accepts);
  if (status !== 202) throw new Error(`no fleet run: ${status}`);
}

/** Makes what can be made by the example of its route alone. */
export async function settleByExamples(
  node: NodeProcess,
  operations: readonly Operation[],
  headers: Headers,
): Promise<void> {
  for (const { method, path, inPath, example } of operations) {
    if (method !== "POST" || inPath.length > 0 || example === undefined || path.startsWith("/v1/admin/")) continue;
    // Some answer with a stream where they may.
    await node.call(method, path, example, { ...headers, Accept: "application/json" });
  }
}

/** What there is to be known of the victim. */
export interface Known {
  /** By the path as far as the id, such as `/v1/agents/{id}`: ids of records that its routes show. */
  readonly records: ReadonlyMap<string, readonly string[]>;
  /** Every id in an answer to the victim. */
  readonly ids: readonly string[];
  /** Every name of a record. */
  readonly names: readonly string[];
}

/** The path as far as its first id. */
export const kindOf = ({ path }: Pick<Operation, "path">): string => path.slice(0, path.indexOf("}") + 1);

/** Paths that take ids of records which other paths show. */
const shownElsewhere = [["/v1/edge/fleet/{id}", "/v1/edge/fleet/runs/{id}"]] as const;

/** Looks at everything that the victim may read. */
export async function survey(node: NodeProcess, operations: readonly Operation[], headers: Headers): Promise<Known> {
  const ids = new Set<string>();
  const names = new Set<string>();
  const learn = (body: unknown): void => {
    for (const id of JSON.stringify(body ?? null).match(uuid) ?? []) ids.add(id);
    if (Array.isArray(body)) for (const part of body) learn(part);
    else if (typeof body === "object" && body !== null) {
      for (const [key, value] of Object.entries(body)) {
        if (typeof value !== "string") learn(value);
        else if (/^(?:name|slug|source|path|label)$/.test(key) && value.includes(marker)) names.add(value);
      }
    }
  };
  const reads = operations.filter(({ method, isStream, path }) => {
    return method === "GET" && !isStream && !path.startsWith("/v1/admin/");
  });
  const listed = new Map<string, readonly string[]>();
  for (const read of reads.filter(({ inPath }) => inPath.length === 0)) {
    const { body } = await node.call("GET", targetOf(read, {}), undefined, headers);
    learn(body);
    const all: readonly LooseJson[] = Array.isArray(body?.items) ? body.items : [];
    // What every tenant sees is no secret of the victim's.
    const items = all.filter(({ tenant_id }) => tenant_id !== systemTenant);
    listed.set(
      read.path,
      items.flatMap((item) => [item.id, item.name, item.path]).filter((id) => typeof id === "string"),
    );
  }
  const records = new Map<string, readonly string[]>();
  for (const kind of new Set(operations.filter(({ inPath }) => inPath.some(isReference)).map(kindOf))) {
    const collection = kind.slice(0, kind.lastIndexOf("/{"));
    const read = reads.find(({ path }) => path === kind) ?? reads.find((one) => kindOf(one) === kind);
    const near = listed.get(collection) ?? [];
    const found: string[] = [];
    for (const candidate of read === undefined ? [] : new Set([...near, ...ids, ...names])) {
      const [name = ""] = read?.inPath.map((parameter) => parameter.name) ?? [];
      const { status, body } = await node.call(
        "GET",
        targetOf(read as Operation, { [name]: candidate }),
        undefined,
        headers,
      );
      if (status !== 200) continue;
      learn(body);
      found.push(candidate);
      if (found.length === 3) break;
    }
    const all = read === undefined ? near : found;
    if (all.length > 0) records.set(kind, all);
  }
  for (const [kind, shown] of shownElsewhere) records.set(kind, records.get(shown) ?? []);
  return { records, ids: [...ids], names: [...names] };
}
