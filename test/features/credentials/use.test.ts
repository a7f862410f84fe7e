/** Credentials in the environments of agents: grants, whose they are, what is shown (docs/reference/credentials.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { type Caller, CredentialFixture } from "./fixture.ts";

let at: CredentialFixture;
let ann: Caller;
let bob: Caller;
let admin: Caller;
beforeAll(async () => {
  at = await CredentialFixture.open({ SVC_LOG_LEVEL: "debug" });
  [ann, bob, admin] = [await at.member("ann"), await at.member("bob"), await at.member("ada", "tenant:admin")];
});
afterAll(() => at?.close());

let count = 0;
const newName = () => {
  count += 1;
  return `agent-${count}`;
};
/** An agent that says whether its variable `KEY` holds the value. */
async function deployed(who: Caller, reference: string, value: string, name = newName()): Promise<string> {
  const md5 = new Bun.CryptoHasher("md5").update(value).digest("hex");
  const line = `test "$(printf %s "$KEY" | md5sum | cut -c1-32)" = ${md5} && echo seen-it; echo "$KEY"; echo "$KEY" >&2`;
  const document = manifest({ name, script: [shell(line), say("done")], spec: { env: { KEY: reference } } });
  const { status, body } = await at.node.call("POST", "/v1/agents?force=true", document, who);
  expect([status, body.code, body.issues]).toEqual([200, undefined, undefined]);
  return body.agent_id;
}
const granted = async (who: Caller, id: string, body: Record<string, unknown>) => {
  const answer = await at.call(who, "POST", `/${id}/grants`, body);
  expect([answer.body.code, answer.status < 300]).toEqual([undefined, true]);
  return answer.body.id as string;
};
/** What a start comes to: the refusal's word, or everything that is told of the execution. */
async function run(who: Caller, agent: string): Promise<string> {
  const { status, body } = await at.executions.start(agent, {}, who);
  if (status !== 200) return `${status} ${body.code} ${body.issues?.[0].path}`;
  const id = body.execution_id;
  const followed = await at.executions.follow(id, "", who);
  await followed.done;
  const record = await at.node.call("GET", `/v1/executions/${id}?include=llm`, undefined, who);
  expect(record.body.error).toBeNull();
  return JSON.stringify([followed.frames, record.body]);
}
const notGranted = "422 credential_not_granted spec.env.KEY";
const notFound = "422 credential_not_found spec.env.KEY";

test("ungranted a start is refused; after the grant the value is seen and in no event", async () => {
  const value = "hush-hush-value-0123";
  const { id } = await at.made(ann, { value });
  const agent = await deployed(ann, `credential:${id}`, value);
  expect(await run(ann, agent)).toBe(notGranted);
  await granted(ann, id, { agent_id: agent });
  const told = await run(ann, agent);
  expect([told.includes("seen-it"), told.includes(value)]).toEqual([true, false]);
  expect(at.node.output).not.toContain(value);
  expect(await at.dump()).not.toContain(value);
  expect((await at.call(ann, "GET", `/${id}`)).body.last_used).toEqual(expect.any(String));
  const used = await at.node.call("GET", `/v1/audit?action=credential.used&target_id=${id}`, undefined, admin);
  expect(used.body.items).toMatchObject([{ actor: { kind: "agent", realm: "tenant-acme" }, outcome: "allowed" }]);
  await at.call(ann, "DELETE", `/${id}`);
  expect(await run(ann, agent)).toBe(notFound);
});

test("credential:crm is the initiator's own, else the tenant's oldest granted", async () => {
  const [own, oldest] = [
    await at.made(ann, { provider: "desk", value: "the-own-value" }),
    await at.made(admin, { provider: "desk", value: "the-oldest-value", scope: "tenant" }),
  ];
  const reference = "credential:desk";
  const [forOwn, forOldest] = [
    await deployed(ann, reference, "the-own-value"),
    await deployed(ann, reference, "the-oldest-value"),
  ];
  for (const agent_id of [forOwn, forOldest]) {
    await granted(ann, own.id, { agent_id });
    await granted(admin, oldest.id, { agent_id });
  }
  expect(await run(ann, forOwn)).toContain("seen-it");
  expect(await run(bob, forOldest)).toContain("seen-it");
});

describe("a personal credential", () => {
  test("serves its owner's executions alone", async () => {
    const { id } = await at.made(ann, { value: "a-value-of-anns" });
    const agent = await deployed(ann, `credential:${id}`, "a-value-of-anns");
    await granted(ann, id, { target_type: "all_agents" });
    expect(await run(bob, agent)).toBe(notFound);
    expect(await run(ann, agent)).toContain("seen-it");
  });

  test("is not granted to a revision of another user's, until it is granted anew", async () => {
    const value = "a-value-for-revisions";
    const { id } = await at.made(ann, { value });
    const agent = await deployed(ann, `credential:${id}`, value, "revised");
    const grant = await granted(ann, id, { agent_id: agent });
    expect(await run(ann, agent)).toContain("seen-it");
    expect(await deployed(bob, `credential:${id}`, value, "revised")).toBe(agent);
    expect(await run(ann, agent)).toBe(notGranted);
    expect(await granted(ann, id, { agent_id: agent })).toBe(grant);
    expect(await run(ann, agent)).toContain("seen-it");
  });

  test("granted to a workflow serves its runs, until another user registers a version", async () => {
    const value = "a-value-for-workflows";
    const { id } = await at.made(ann, { value });
    await deployed(ann, `credential:${id}`, value, "worker");
    const register = async (who: Caller, version: string) => {
      const workflow = {
        apiVersion: "svc.dev/v1",
        kind: "Workflow",
        metadata: { name: "uses-a-key", version },
        spec: {
          initial_state: "WORK",
          states: {
            WORK: {
              kind: "Agent",
              agent: "worker",
              input: "go",
              transitions: [{ condition: "on_success", target: "DONE" }],
            },
            DONE: { kind: "System", command: "noop", transitions: [] },
          },
        },
      };
      const { status, body } = await at.node.call("POST", "/v1/workflows", workflow, who);
      expect([body.code, body.issues, status < 300]).toEqual([undefined, undefined, true]);
    };
    const runs = async () => {
      const { body } = await at.node.call("POST", "/v1/workflows/uses-a-key/run", {}, ann);
      const ended = await until(
        async () => {
          const path = `/v1/workflows/executions/${body.execution_id}`;
          const run = (await at.node.call("GET", path, undefined, ann)).body;
          return /^(pending|running)$/.test(run.status) ? null : run;
        },
        { timeoutMs: 50_000 },
      );
      return [ended.status, JSON.stringify(ended).includes("credential_not_granted")];
    };
    await register(ann, "1.0.0");
    expect(await runs()).toEqual(["failed", true]);
    await granted(ann, id, { workflow_name: "uses-a-key" });
    expect((await runs())[0]).toBe("completed");
    await register(bob, "1.1.0");
    expect(await runs()).toEqual(["failed", true]);
    await granted(ann, id, { workflow_name: "uses-a-key" });
    expect((await runs())[0]).toBe("completed");
  });
});

test("an unknown label and a malformed reference are told", async () => {
  const unknown = await deployed(ann, "credential:desk/none", "x");
  expect(await run(ann, unknown)).toBe(notFound);
  const document = manifest({ name: "malformed", script: [say("x")], spec: { env: { KEY: "credential:?" } } });
  const { status, body } = await at.node.call("POST", "/v1/agents", document, ann);
  expect([status, body.code]).toEqual([422, "invalid_manifest"]);
});
