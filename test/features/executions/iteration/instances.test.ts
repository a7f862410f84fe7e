/** What a manifest says of its instances, seen through the API: startup script, bootstrap_path, read-only, environment. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { say, shell } from "../../../harness/manifests.ts";
import { scratch } from "../../../harness/scratch.ts";
import { ExecutionFixture } from "../fixture.ts";

let fixture: ExecutionFixture;
beforeAll(async () => {
  fixture = await ExecutionFixture.open();
}, 60_000);
afterAll(() => fixture.close());

const output = (record: { output: string | null }) => record.output;

describe("startup script", () => {
  test("runs in the workspace before the bootstrap; its output is console output", async () => {
    const script =
      'pwd; echo "token:$SVC_EXECUTION_TOKEN$AEGIS_EXECUTION_TOKEN"; echo "$SVC_ORCHESTRATOR_URL"; echo made > made';
    const record = await fixture.run({
      script: [shell("cat made"), { content: "{{last}}" }],
      spec: { advanced: { startup_script: script } },
    });
    expect(record).toMatchObject({ status: "completed", error: null });
    expect(output(record)).toContain("made");
    expect(output(record)).not.toContain("STARTUP");
    const frames = await fixture.events(record.id);
    const console = frames.filter(({ name }) => name === "console_output").map(({ body }) => body.content);
    const said = console.join("");
    expect(said).toContain("[BOOTSTRAP STARTUP] /workspace\n");
    expect(said).toContain("[BOOTSTRAP STARTUP] token:\n");
    expect(said).toMatch(/\[BOOTSTRAP STARTUP\] http:\/\/127\.0\.0\.1:\d+\n/);
  });

  test("a script that fails is the fault of its iteration, with its last standard error", async () => {
    const record = await fixture.run({
      script: [say("never")],
      spec: { advanced: { startup_script: "echo 'cannot find libwidget' >&2; exit 4" } },
    });
    expect(record).toMatchObject({ status: "failed", error_code: "startup_script_failed", total_iterations: 1 });
    expect(record.error).toContain("The startup script exited with 4: cannot find libwidget");
    expect(record.iterations[0]).toMatchObject({ status: "failed", error: { code: "startup_script_failed" } });
    expect(record.usage.llm_calls).toBe(0);
  });

  test("an iterative agent tries again", async () => {
    const record = await fixture.run({
      script: [say("fine")],
      execution: { mode: "iterative", max_iterations: 3 },
      spec: { advanced: { startup_script: "[ -e tried ] || { touch tried; exit 1; }" } },
    });
    expect(record).toMatchObject({ status: "completed", output: "fine", total_iterations: 2 });
  });

  test("its output is no reason for an exit_code validator to mark the agent down", async () => {
    const record = await fixture.run({
      script: [say("fine")],
      execution: { validation: [{ type: "exit_code", min_score: 1 }] },
      spec: { advanced: { startup_script: "echo loud; echo louder >&2" } },
    });
    expect(record).toMatchObject({ status: "completed", output: "fine" });
  });
});

describe("bootstrap_path", () => {
  test("a host program replaces the bootstrap, with the same argument and environment", async () => {
    const program = join(scratch("bootstrap"), "agent.sh");
    writeFileSync(program, 'echo "$SVC_EXECUTION_ID|$(printf %s "$1" | head -n 1)|$(pwd)"\n');
    chmodSync(program, 0o644);
    const record = await fixture.run({
      instruction: "Say who you are.",
      spec: { advanced: { bootstrap_path: program } },
    });
    expect(record).toMatchObject({ status: "completed" });
    expect(record.output).toBe(`${record.id}|Say who you are.|/workspace`);
  });

  test("one that sends no Authorization asks the model by the address as given", async () => {
    const program = join(scratch("bootstrap"), "asks.sh");
    const asking = `const { SVC_ORCHESTRATOR_URL: url, SVC_EXECUTION_ID: execution_id } = process.env;
      const body = { type: "generate", execution_id, iteration_number: 1, model_alias: "default", prompt: "hello there" };
      const headers = { "Content-Type": "application/json" };
      const sent = { method: "POST", headers, body: JSON.stringify(body) };
      console.log((await (await fetch(url + "/v1/dispatch-gateway", sent)).json()).content)`;
    writeFileSync(program, `exec /run/svc/bun -e '${asking}'\n`);
    chmodSync(program, 0o644);
    const record = await fixture.run({ spec: { advanced: { bootstrap_path: program } } });
    expect(record).toMatchObject({ status: "completed", output: "hello there" });
  });

  test("bootstrap_path takes a plain program: no directory, link or closed file", async () => {
    const folder = scratch("bootstrap");
    writeFileSync(join(folder, "closed.sh"), "true\n", { mode: 0o600 });
    symlinkSync("closed.sh", join(folder, "link.sh"));
    const refused = [folder, join(folder, "link.sh"), join(folder, "closed.sh"), "/run/svc/bun", "/proc/self/environ"];
    for (const bootstrap_path of [...refused, "/etc", "/etc/shadow"]) {
      expect(fixture.run({ spec: { advanced: { bootstrap_path } } })).rejects.toThrow("bootstrap_path_forbidden");
    }
    // A manifest with a schema is judged in a process of its own.
    const judgedApart = { input_schema: { type: "object" }, advanced: { bootstrap_path: folder } };
    expect(fixture.run({ spec: judgedApart })).rejects.toThrow("bootstrap_path_forbidden");
  });

  test("one that is not there is a failed iteration, not an endless one", async () => {
    const record = await fixture.run({ spec: { advanced: { bootstrap_path: "/nowhere/agent.py" } } });
    expect(record).toMatchObject({ status: "failed", error_code: "nonzero_exit" });
    expect(record.iterations[0].stderr).toContain("no such program: /nowhere/agent.py");
  });
});

describe("isolation", () => {
  test("what the node cannot give is refused; inherit is what it has", async () => {
    expect(fixture.deploy({ runtime: { isolation: "firecracker" } })).rejects.toThrow("unsupported_isolation");
    const record = await fixture.run({ script: [say("x")], runtime: { isolation: "inherit" } });
    expect(record.runtime).toMatchObject({ isolation: "process", sandbox: "bubblewrap", egress_enforced: true });
  });
});

describe("filesystem", () => {
  test("read_only: nothing but a small /tmp can be written, by commands and by tools", async () => {
    const line =
      "for d in /workspace /usr / /var; do (echo x > $d/x) 2>/dev/null && echo wrote $d; done; echo x > /tmp/x && echo tmp; df -k /tmp | tail -n 1 | awk '{print $2}'";
    const record = await fixture.run({
      script: [shell(line), { content: "{{last}}" }],
      spec: { security: { filesystem: { read_only: true } } },
    });
    expect(record).toMatchObject({ status: "completed" });
    expect(JSON.parse(record.output)).toMatchObject({ stdout: "tmp\n65536\n" });
  });
});

describe("environment", () => {
  test("the environment holds the listed names and the manifest's, and no setting of svc", async () => {
    const record = await fixture.run({
      script: [shell("env | cut -d= -f1 | sort"), { content: "{{last}}" }],
      spec: { env: { COLOUR: "blue" } },
    });
    const names: string[] = JSON.parse(record.output).stdout.trim().split("\n");
    const listed = [
      ...["AGENT_ID", "EXECUTION_ID", "MODEL_ALIAS", "ORCHESTRATOR_URL", "TENANT_ID", "ITERATION"],
      ...["ITERATION_HISTORY", "AGENT_INSTRUCTION", "PROMPT_TEMPLATE", "LLM_TIMEOUT_SECONDS", "SECURITY_CONTEXT"],
      "WORKSPACE",
    ];
    for (const name of listed) for (const prefix of ["SVC_", "AEGIS_"]) expect(names).toContain(prefix + name);
    expect(names).toContain("COLOUR");
    for (const secret of [
      "SVC_EXECUTION_TOKEN",
      "AEGIS_EXECUTION_TOKEN",
      "DATABASE_URL",
      "REDIS_URL",
      "SVC_DATA_DIR",
    ]) {
      expect(names).not.toContain(secret);
    }
  });

  test.each(["SVC_EXECUTION_ID", "AEGIS_TENANT_ID", "PATH", "HOME", "LD_PRELOAD", "HTTP_PROXY", "https_proxy"])(
    "a manifest cannot set %s",
    async (name) => {
      const refused = fixture.deploy({ spec: { env: { [name]: "mine" } } });
      expect(refused).rejects.toThrow("reserved_env");
    },
  );
});

test("what only containers have is said to be without effect in a process", async () => {
  const record = await fixture.run({
    script: [say("fine")],
    spec: { runtime: { image: "ghcr.io/acme/tools:1", model: "default" }, advanced: { warm_pool_size: 2 } },
  });
  expect(record.status).toBe("completed");
  const codes = record.warnings.map(({ code }: { code: string }) => code);
  expect(codes).toEqual(expect.arrayContaining(["image_ignored", "warm_pool_ignored"]));
});

test("without a sandbox every execution says so, in its record and its stream", async () => {
  const bare = await ExecutionFixture.open({ SVC_SANDBOX: "none", SVC_DOCKER_SOCKET: "/nowhere.sock" });
  for (const round of [1, 2]) {
    const record = await bare.run({ script: [say("fine")], name: `bare-${round}` });
    expect(record).toMatchObject({ status: "completed", runtime: { sandbox: "none", egress_enforced: false } });
    expect(record.warnings.map(({ code }: { code: string }) => code)).toContain("unsandboxed");
    const told = (await bare.events(record.id)).filter(({ name }) => name === "execution_warning");
    expect(told.map(({ body }) => body.code)).toContain("unsandboxed");
  }
  await bare.close();
}, 60_000);
