/** States that run commands, end to end on a real node that has no containers (docs/reference/workflows.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bubblewrapWorks } from "../../../../adapters/sandbox/fixture.ts";
import { processesWith } from "../../../../harness/processes.ts";
import { until } from "../../../../harness/until.ts";
import { NodeFixture } from "../../definitions/node-fixture.ts";

const works = await bubblewrapWorks();

describe.skipIf(!works)("System states of a node without containers", () => {
  let at: NodeFixture;
  let count = 0;
  beforeAll(async () => {
    at = await NodeFixture.open({ SVC_DOCKER_SOCKET: "/nowhere.sock", SERVICE_SECRET_OF_TEST: "leak" });
  });
  afterAll(() => at.close());

  async function start(states: Readonly<Record<string, object>>, spec: object = {}, body: object = {}) {
    count += 1;
    await at.register(`commands-${count}`, states, { spec });
    return at.start(`commands-${count}`, body);
  }
  const run = async (...given: Parameters<typeof start>) => at.ended(await start(...given));
  const system = (command: string | string[], more: object = {}) => ({
    kind: "System",
    command,
    transitions: [],
    ...more,
  });
  /** Where the run's workspace lies on this host, once it is there. */
  const workspaceOf = (id: string) =>
    until(
      async () => {
        const { blackboard } = await at.record(id);
        return blackboard.workspace_volume_id
          ? join(at.node.dataDir, "workspaces", blackboard.workspace_volume_id)
          : null;
      },
      { what: "the workspace" },
    );

  test("see none of svc's environment, have no network and no privileges", async () => {
    const { blackboard, status } = await run({ LOOK: system("env; id -u; cat /proc/net/route | tail -n +2") });
    const { stdout, ...rest } = blackboard.LOOK;
    expect(status).toBe("completed");
    expect(rest).toMatchObject({ status: "success", exit_code: 0, timed_out: false, truncated: false });
    const lines: string[] = stdout.trim().split("\n");
    expect(lines).toContain("1000");
    expect(lines).toContain("SVC_STATE_NAME=LOOK");
    const names = lines.filter((line) => line.includes("=")).map((line) => line.slice(0, line.indexOf("=")));
    const given = ["HOME", "INTENT_INPUTS", "PATH", "SVC_STATE_NAME", "SVC_WORKFLOW_EXECUTION_ID", "SVC_WORKFLOW_NAME"];
    expect(names.filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name)).sort()).toEqual(given);
    expect(lines.filter((line) => !line.includes("="))).toEqual(["1000"]);
  });

  test("that take too long are ended, and on_timeout is followed", async () => {
    const states = {
      SLOW: system("echo begun; sleep 30", {
        timeout: "2s",
        transitions: [{ condition: "on_timeout", target: "LATE" }],
      }),
      LATE: system("echo late"),
    };
    const { blackboard, status } = await run(states);
    expect(status).toBe("completed");
    expect(blackboard.SLOW).toMatchObject({ status: "failed", exit_code: -1, timed_out: true, stdout: "begun\n" });
    expect(blackboard.LATE).toMatchObject({ stdout: "late\n" });
  });

  test("get values as words, with any characters", async () => {
    const invoice = "x; touch /workspace/pwned $(id) '\" \n";
    const states = { SAY: system("printf '%s' {{input.invoice}} | wc -c; ls -A") };
    const { blackboard } = await run(states, { storage: { workspace: {} } }, { input: { invoice } });
    expect(blackboard.SAY).toMatchObject({ status: "success", stdout: `${Buffer.byteLength(invoice)}\n` });
  });

  test("share the run's workspace; without one each begins with nothing", async () => {
    const states = {
      WRITE: system("echo one > file", { transitions: [{ target: "READ" }] }),
      READ: system(["cat", "file"]),
    };
    const shared = await run(states, { storage: { workspace: {} } });
    expect(shared.blackboard.READ).toMatchObject({ exit_code: 0, stdout: "one\n" });
    const alone = await run({ ...states, READ: system("ls -A") });
    expect(alone.blackboard.READ).toMatchObject({ exit_code: 0, stdout: "" });
  });

  test("that fail say what they wrote last, in the state's result and in the run's error", async () => {
    const { status, blackboard, error, error_code, summary } = await run({
      BUILD: system("echo compiling; echo 'no rule for all' >&2; exit 2", { transitions: [] }),
    });
    expect([status, error_code]).toEqual(["failed", "command_failed"]);
    expect(error).toBe("The command of BUILD exited with code 2:\nno rule for all");
    expect(blackboard.BUILD).toMatchObject({ error, error_code });
    expect(summary).toBe(error);
  });

  test("in containers are refused here", async () => {
    const states = { BOX: { kind: "ContainerRun", name: "b", image: "alpine:3", command: ["true"], transitions: [] } };
    const { status, blackboard } = await run(states);
    expect(status).toBe("failed");
    expect(blackboard.BOX).toMatchObject({ status: "failed", exit_code: null, error_code: "runtime_unavailable" });
  });

  test("end within moments of a cancellation, and nothing of them is left", async () => {
    const tag = `37${Math.floor(Math.random() * 1e6)}`;
    const id = await start({ SLOW: system(`trap '' TERM; sleep ${tag} & wait; sleep ${tag}`) });
    await until(() => processesWith(`sleep ${tag}`).length > 0, { what: "the command to run" });
    await at.node.call("POST", `/v1/workflows/executions/${id}/cancel`, {});
    await until(() => processesWith(`sleep ${tag}`).length === 0, { timeoutMs: 10_000, what: "no process left" });
    expect((await at.ended(id)).status).toBe("cancelled");
    await until(() => readdirSync(join(at.node.dataDir, "instances")).length === 0 || !isHeld(id));
  });

  const isHeld = (executionId: string) =>
    readdirSync(join(at.node.dataDir, "instances")).some((name) => {
      const file = join(at.node.dataDir, "instances", name, "launch.json");
      return existsSync(file) && readFileSync(file, "utf8").includes(executionId);
    });

  test("outlive a killed node: the next one goes on with them, and none runs twice", async () => {
    const id = await start(
      { WAIT: system("echo x >> runs; while [ ! -e go ]; do sleep 0.05; done; echo done; cat runs") },
      { storage: { workspace: {} } },
    );
    const workspace = await workspaceOf(id);
    await until(() => existsSync(join(workspace, "runs")), { what: "the command to run" });
    await at.node.kill();
    writeFileSync(join(workspace, "go"), "");
    await at.node.restart();
    const { status, blackboard } = await at.ended(id);
    expect(status).toBe("completed");
    expect(blackboard.WAIT).toMatchObject({ status: "success", exit_code: 0, stdout: "done\nx\n" });
  }, 60_000);

  test("that are lost with the machine are interrupted", async () => {
    const id = await start({ WAIT: system("echo x >> runs; sleep 60") }, { storage: { workspace: {} } });
    const workspace = await workspaceOf(id);
    await until(() => existsSync(join(workspace, "runs")), { what: "the command to run" });
    await at.node.kill();
    const instances = join(at.node.dataDir, "instances");
    for (const name of readdirSync(instances)) {
      const file = join(instances, name, "launch.json");
      if (!existsSync(file) || !readFileSync(file, "utf8").includes(id)) continue;
      process.kill(JSON.parse(readFileSync(join(instances, name, "supervisor.json"), "utf8")).pid, "SIGKILL");
    }
    await at.node.restart();
    const { status, blackboard } = await at.ended(id);
    expect(status).toBe("failed");
    expect(blackboard.WAIT).toMatchObject({ status: "failed", error_code: "interrupted" });
  }, 60_000);

  test("reach public hosts through the proxy when they say so, and no others", async () => {
    const ask =
      'printf "CONNECT $1 HTTP/1.1\\r\\nHost: $1\\r\\nProxy-Authorization: Basic $(printf %s "$2" | base64 -w0)\\r\\n\\r\\n" >&3; head -n 1 <&3';
    const command = [
      "bash",
      "-c",
      `u=\${HTTPS_PROXY#http://}; u=\${u%@*}; exec 3<>/dev/tcp/127.0.0.1/8082; set -- 127.0.0.1:22 "$u"; ${ask}`,
    ];
    const { blackboard, execution_id } = await run({ ASK: system(command, { network_mode: "default" }) });
    expect(blackboard.ASK).toMatchObject({ exit_code: 0 });
    expect(blackboard.ASK.stdout).toContain(" 403 ");
    const incident = await until(
      async () => (await at.node.call("GET", "/v1/security/incidents?category=egress_blocked")).body.items[0],
      { what: "the incident" },
    );
    expect(incident).toMatchObject({ execution_id, agent_id: null, details: { host: "127.0.0.1", port: 22 } });
  });
});
