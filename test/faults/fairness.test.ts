/**
 * What the floods of three tenants cost a fourth one, over HTTP against a whole node: one with queued deliveries, one with
 * the largest messages, one with exponential patterns (src/runtime/README.md, "By turns of tenants").
 */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { limit, StimuliFixture, signed } from "../features/stimuli/fixture.ts";
import { manifest } from "../harness/manifests.ts";
import { startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { type FloodSettings, type Kind, kinds, secret, startFloods } from "./floods.ts";

setDefaultTimeout(600_000);

const disposers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of disposers.splice(0).reverse()) await step();
});

const isLong = process.env.SVC_LONG_TESTS === "1";
const [deliveries, samples, starts] = isLong ? [50_000, 300, 20] : [4000, 8, 3];
/** What a machine does at its best, ms; below it the ratio tells nothing. */
const usualMs = 20;

async function open(): Promise<StimuliFixture> {
  const stores = await freshStores();
  disposers.push(() => stores.dispose());
  const env = {
    SVC_LOG_LEVEL: "error",
    SVC_LOOP_MAX_ROUNDS: "200",
    SVC_LOOP_MAX_ITERATIONS: "10",
    SVC_METRICS_ENABLED: "true",
    SVC_METRICS_PORT: "0",
  };
  const node = await startNodeProcess(stores, { env, program: "test/bench/node.ts" });
  disposers.push(() => node.dispose());
  const fixture = new StimuliFixture(stores, node);
  for (const tenant of ["queue", "large", "small"]) {
    await limit(stores, tenant, 10_000_000);
    await fixture.workflow("counted", tenant);
    await fixture.route({ source: tenant, workflow: "counted", secret, acknowledge: "received" }, tenant);
  }
  await fixture.route({ source: "asked", workflow: "counted", secret, acknowledge: "routed" }, "small");
  return fixture;
}

const scripted = [{ tool_calls: [{ name: "cmd.run", arguments: { command: "true", args: [] } }] }];

/** Starts an execution whose agent is played by the test. @returns its id and the credential it was launched with */
async function agentOf(fixture: StimuliFixture): Promise<readonly [string, string]> {
  const document = manifest({ name: `large-${crypto.randomUUID().slice(0, 8)}`, script: scripted });
  const { agent_id } = (await fixture.as("large", "POST", "/v1/agents", document)).body;
  const { execution_id } = (await fixture.as("large", "POST", "/v1/executions", { agent_id, input: "go" })).body;
  const line = await until(
    () => fixture.node.output.split("\n").find((one) => one.startsWith("{") && one.includes(execution_id)),
    { what: "an agent to be launched" },
  );
  return [execution_id, (JSON.parse(line) as { token: string }).token];
}

/** Milliseconds of each: a delivery that is answered with its run, and the run's record. */
async function measure(fixture: StimuliFixture, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const body = `small ${crypto.randomUUID()}`;
    const began = performance.now();
    const answer = await fixture.hook("asked", body, { signature: signed(body, secret) });
    times.push(performance.now() - began);
    expect([200, 202]).toContain(answer.status);
  }
  return times;
}

/** Milliseconds from a delivery that is only acknowledged to the start of its run. */
async function measureStart(fixture: StimuliFixture): Promise<number> {
  const body = `small ${crypto.randomUUID()}`;
  const began = performance.now();
  const answer = await fixture.hook("small", body, { signature: signed(body, secret) });
  expect(answer.status).toBe(202);
  const { stimulus_id: id } = answer.body;
  await until(
    async () => (await fixture.stores.sql`select from stimuli where id = ${id} and status = 'classified'`).count === 1,
    { what: "its run to start", everyMs: 2, timeoutMs: 120_000 },
  );
  return performance.now() - began;
}

const share = (times: readonly number[], part: number) =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
const shown = (times: readonly number[]) => [0.5, 0.9, 0.99].map((part) => share(times, part).toFixed(1)).join(" / ");

/** What floods need to know of a node. */
async function prepared(fixture: StimuliFixture): Promise<Omit<FloodSettings, "kinds">> {
  const { node } = fixture;
  const agents = [await agentOf(fixture), await agentOf(fixture)];
  const schema = { type: "object", properties: { a: { pattern: "^(a+)+$" } } };
  const checked = manifest({ name: "checked", script: scripted }) as { spec: object };
  const document = { ...checked, spec: { ...checked.spec, input_schema: schema } };
  const { agent_id: patternAgent } = (await fixture.as("patterns", "POST", "/v1/agents", document)).body;
  const { url, internalUrl } = node;
  return { url, internalUrl, token: await node.token(), deliveries, agents, patternAgent };
}

/** The usual times of the fourth tenant. */
async function alone(fixture: StimuliFixture) {
  await measure(fixture, 5 * starts);
  const answered = await measure(fixture, samples);
  const started: number[] = [];
  for (let index = 0; index < starts; index++) started.push(await measureStart(fixture));
  return { answered, started };
}

test("floods of three tenants leave a fourth one its share of a node", async () => {
  const fixture = await open();
  const settings = await prepared(fixture);
  const waiting = async () => {
    const [row] = await fixture.stores.sql<[{ count: number }]>`
      select count(*)::int as count from stimuli where status = 'received' and tenant = 'queue'`;
    return row.count;
  };
  const received = async () => (await fixture.stores.sql`select from stimuli where tenant = 'queue'`).count;
  const quiet = await alone(fixture);
  const floods = await startFloods({ kinds, ...settings });
  // A machine that has little time for the floods may take what they send as it comes.
  let hasQueue = false;
  const queuedOrTaken = async () => {
    hasQueue = (await waiting()) > 500;
    return hasQueue || (await received()) >= deliveries;
  };
  await until(queuedOrTaken, { what: "deliveries to queue up, or to be taken", timeoutMs: 120_000 });
  const busyStart: number[] = [];
  for (let index = 0; index < starts; index++) busyStart.push(await measureStart(fixture));
  // It did not wait for those before it.
  if (isLong) expect([hasQueue, (await waiting()) > 0]).toEqual([true, true]);
  const busy = await measure(fixture, samples);
  const summary = await floods.stop();
  expect(summary.failed).toEqual({});
  expect(summary.large > 0 && summary.checked > 0).toBe(true);
  // All at once they take both cores of a small machine, with those who send them: the figure is told, not judged.
  if (isLong) tell("all", quiet.answered, busy, { quiet: shown(quiet.started), busy: shown(busyStart), ...summary });
});

function tell(what: string, quiet: readonly number[], busy: readonly number[], more: object): void {
  console.log(
    `${what}: p50 / p90 / p99 answered in ${shown(quiet)} ms alone, ${shown(busy)} ms beside; ${JSON.stringify(more)}`,
  );
}

async function besideOne(kind: Kind): Promise<void> {
  const fixture = await open();
  const settings = await prepared(fixture);
  const quiet = (await alone(fixture)).answered;
  const floods = await startFloods({ kinds: [kind], ...settings });
  // The first of each flood are under way.
  await measure(fixture, 5 * starts);
  const busy = await measure(fixture, samples);
  const summary = await floods.stop();
  tell(kind, quiet, busy, summary);
  expect(summary.failed).toEqual({});
  expect(share(busy, 0.99)).toBeLessThan(3 * Math.max(usualMs, share(quiet, 0.99)));
}

// On a quiet machine only: what else runs there is a flood as well.
if (isLong) {
  test.each([...kinds])("a flood of %s alone multiplies another tenant's p99 by at most 3", besideOne);
}
