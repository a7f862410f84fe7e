/** Instances without a program: the bootstrap's exchange, held by the node itself. */
import { describe, expect, test } from "bun:test";
import { createInlineSandbox } from "../../../src/adapters/sandbox/inline/inline-sandbox.ts";
import {
  type InstanceSpec,
  LaunchFailure,
  type OutputChunk,
  type Sandbox,
} from "../../../src/adapters/sandbox/port.ts";
import { until } from "../../harness/until.ts";
import { dispatch, final, refusal } from "../../programs/fake-gateway.ts";
import { unknownInstances } from "./conformance.ts";
import { runToEnd, specOf } from "./instances.ts";

interface Asked {
  readonly path: string;
  readonly authorization: string | null;
  readonly body: Record<string, unknown>;
}

/** A gateway that answers the n-th question (from 0); null: it never does. */
function behind(answer: (asked: Asked, n: number) => object | null): { sandbox: Sandbox; asked: Asked[] } {
  const asked: Asked[] = [];
  const handle = async (request: Request): Promise<Response> => {
    const one = {
      path: new URL(request.url).pathname,
      authorization: request.headers.get("authorization"),
      body: (await request.json()) as Record<string, unknown>,
    };
    const said = answer(one, asked.push(one) - 1);
    if (said === null) return new Promise(() => {});
    return said instanceof Response ? said : Response.json(said);
  };
  return { sandbox: createInlineSandbox({ gateway: handle }), asked };
}

const token = "tok-5ecret";
const fixture = { workspace: () => "/nowhere" };

function instance(prompt = "go", changes: Partial<InstanceSpec> = {}): InstanceSpec {
  const executionId = crypto.randomUUID();
  const environment = {
    SVC_EXECUTION_ID: executionId,
    SVC_AGENT_ID: "",
    SVC_MODEL_ALIAS: "default",
    SVC_ITERATION: "2",
    SVC_ORCHESTRATOR_URL: `http://127.0.0.1:1/x/${token}`,
    SVC_EXECUTION_TOKEN: token,
  };
  return specOf(fixture, prompt, { executionId, environment, mounts: [], ...changes });
}

const never = behind(() => null).sandbox;
unknownInstances(() => ({ ...fixture, sandbox: never }));

test("it says that nothing holds what is in it, for nothing is", () => {
  expect(never.describe()).toEqual({
    isolation: "process",
    sandbox: "none",
    egressEnforced: true,
    unenforcedLimits: [],
  });
});

describe("an exchange", () => {
  test("puts the prompt to the gateway with the execution's token, ends with the answer", async () => {
    const { sandbox, asked } = behind(() => final("fin"));
    const prompt = `é\0${"x".repeat(300_000)}`;
    const spec = instance(prompt);
    const { exit, chunks } = await runToEnd(sandbox, spec);
    expect(exit).toEqual({
      reason: "exited",
      exitCode: 0,
      stdout: "fin\n",
      stdoutTruncated: false,
      stderr: "",
      stderrTruncated: false,
    });
    expect(chunks).toEqual([{ stream: "stdout", offset: 0, content: "fin\n", bytes: 4 }]);
    const body = { type: "generate", execution_id: spec.executionId, iteration_number: 2, prompt };
    expect(asked).toMatchObject([{ path: "/v1/dispatch-gateway", authorization: `Bearer ${token}`, body }]);
    expect(await sandbox.inspect(spec.instanceId)).toBe("exited");
    await sandbox.remove(spec.instanceId);
    expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
    expect(await sandbox.list()).toEqual([]);
  });

  test("a command that the gateway hands out is not run: the exchange ends as a fault", async () => {
    const { sandbox, asked } = behind((_, n) =>
      n === 0 ? dispatch({ command: "sh", args: ["-c", "touch /tmp/ran"] }) : final("ran"),
    );
    const { exit } = await runToEnd(sandbox, instance());
    expect(exit).toMatchObject({ reason: "exited", exitCode: 1, stdout: "" });
    expect(exit.stderr).toBe("[BOOTSTRAP ERROR] the agent has nothing that could run a command\n");
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["401", () => refusal(401, "invalid_token"), 3],
    ["409", () => refusal(409, "execution_not_running"), 4],
    ["502 of the model", () => refusal(502, "upstream_provider"), 4],
  ])("%s ends it as it ends the bootstrap", async (_, answer, exitCode) => {
    const { exit } = await runToEnd(behind(answer).sandbox, instance());
    expect(exit).toMatchObject({ reason: "exited", exitCode, stdout: "" });
    expect(exit.stderr).toStartWith("[BOOTSTRAP ERROR] refused: ");
  });

  test("no prompt, and no model to ask, are bad input", async () => {
    const { sandbox, asked } = behind(() => final("fin"));
    expect((await runToEnd(sandbox, instance(" "))).exit.exitCode).toBe(2);
    expect((await runToEnd(sandbox, instance("go", { environment: {} }))).exit.exitCode).toBe(2);
    expect(asked).toEqual([]);
  });

  test("a gateway that is busy or breaks is asked again, with the same words", async () => {
    const { sandbox, asked } = behind((_, n) => {
      if (n === 0) throw new Error("broken");
      return n === 1 ? refusal(503, "service_unavailable") : final("fin");
    });
    expect((await runToEnd(sandbox, instance())).exit.stdout).toBe("fin\n");
    expect(new Set(asked.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test("an answer longer than an output may be keeps both its ends", async () => {
    const { sandbox } = behind(() => final(`first${"é".repeat(1_000_000)}last`));
    const { stdout, stdoutTruncated } = (await runToEnd(sandbox, instance())).exit;
    expect(stdoutTruncated).toBe(true);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(1_048_576);
    expect(stdout).toStartWith("firsté");
    expect(stdout).toEndWith("last\n");
  });
});

describe("its life", () => {
  test("launched any number of times it asks once; others may follow it from any offset", async () => {
    const { sandbox, asked } = behind(() => final("wörld"));
    const spec = instance();
    await Promise.all([sandbox.launch(spec, () => {}), sandbox.launch(spec, () => {})]);
    await runToEnd(sandbox, spec);
    expect(asked).toHaveLength(1);
    const chunks: OutputChunk[] = [];
    const rest = { signal: AbortSignal.timeout(5_000), from: { stdout: 3, stderr: 0 } };
    await sandbox.follow(spec.instanceId, { ...rest, onOutput: (chunk) => chunks.push(chunk) });
    expect(chunks).toEqual([{ stream: "stdout", offset: 3, content: "rld\n", bytes: 4 }]);
  });

  test("asked to end while the gateway is silent, or between two tries, it ends at once", async () => {
    for (const answer of [null, refusal(503, "service_unavailable", { "Retry-After": "60" })]) {
      const { sandbox, asked } = behind(() => answer?.clone() ?? null);
      const spec = instance();
      await sandbox.launch(spec, () => {});
      await until(() => asked.length === 1, { what: "the question" });
      expect(await sandbox.inspect(spec.instanceId)).toBe("running");
      expect(await sandbox.list()).toEqual([{ instanceId: spec.instanceId, executionId: spec.executionId }]);
      await Promise.all([sandbox.terminate(spec.instanceId, 60_000), sandbox.terminate(spec.instanceId, 60_000)]);
      expect((await runToEnd(sandbox, spec)).exit).toMatchObject({ reason: "terminated", exitCode: 143, stdout: "" });
      expect(asked).toHaveLength(1);
    }
  });

  test("a follower may leave; it runs on", async () => {
    const { sandbox } = behind(() => null);
    const spec = instance();
    await sandbox.launch(spec, () => {});
    const stop = new AbortController();
    const options = { signal: stop.signal, from: { stdout: 0, stderr: 0 }, onOutput() {} };
    const followed = sandbox.follow(spec.instanceId, options).catch((error: unknown) => error);
    stop.abort(new Error("node leaves"));
    expect(await followed).toEqual(new Error("node leaves"));
    expect(await sandbox.inspect(spec.instanceId)).toBe("running");
    await sandbox.remove(spec.instanceId);
  });

  test.each<[string, Partial<InstanceSpec>]>([
    ["a startup script", { startupScript: "true" }],
    ["a program of its own", { bootstrapPath: "/opt/agent" }],
    ["a command", { command: { argv: ["true"], workdir: "/", user: null } }],
    ["an image", { image: { reference: "a/b:1", pullPolicy: "Never" } }],
    ["a place among those kept ready", { pool: { key: "k", size: 1 } }],
    ["a volume", { mounts: [{ source: "/tmp", target: "/workspace", readOnly: false }] }],
    ["a way out", { egress: { username: "svc", password: "x" } }],
  ])("%s is refused", async (_, more) => {
    const { sandbox, asked } = behind(() => final("fin"));
    const refused = await sandbox.launch(instance("go", more), () => {}).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LaunchFailure);
    expect(refused).toHaveProperty("code", "runtime_error");
    expect(asked).toEqual([]);
  });
});
