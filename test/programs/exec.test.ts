import { describe, expect, test } from "bun:test";
import { processesWith } from "../harness/processes.ts";
import { until } from "../harness/until.ts";
import {
  dispatch,
  execThroughBootstrap,
  type FakeGateway,
  fakeGateway,
  final,
  startBootstrap,
} from "./fake-gateway.ts";

const tag = () => `33${Math.floor(Math.random() * 1e6)}`;
const sh = (script: string, members: object = {}) => ({ command: "sh", args: ["-c", script], ...members });

describe("dispatched commands", () => {
  test("arguments arrive as they are", async () => {
    const result = await execThroughBootstrap({ command: "printf", args: ["<%s>", "a b", "$HOME", "*", "", "é\n"] });
    expect(result).toMatchObject({
      type: "dispatch_result",
      exit_code: 0,
      stdout: "<a b><$HOME><*><><é\n>",
      stderr: "",
      truncated: false,
      timed_out: false,
    });
    expect(result).toMatchObject({ stdout_bytes: 22, stderr_bytes: 0 });
    expect(result.duration_ms).toBeNumber();
  });

  test("timeout: -1, output so far, nothing left", async () => {
    const id = tag();
    const result = await execThroughBootstrap(sh(`echo x; echo e >&2; sleep ${id} & wait`, { timeout_secs: 1 }));
    expect(result).toMatchObject({
      exit_code: -1,
      timed_out: true,
      stdout: "x\n",
      stderr: "e\n[svc] command timed out after 1s",
    });
    expect(processesWith(`sleep ${id}`)).toEqual([]);
  });

  test("one that ignores SIGTERM is killed 5 s later", async () => {
    const result = await execThroughBootstrap(
      sh("trap '' TERM; echo x; while :; do sleep 0.1; done", { timeout_secs: 1 }),
    );
    expect(result).toMatchObject({ exit_code: -1, timed_out: true, stdout: "x\n" });
    expect(result.duration_ms).toBeGreaterThan(5_500);
    expect(result.duration_ms).toBeLessThan(8_500);
  }, 15_000);

  test("a background child does not hold the result up for more than 2 s", async () => {
    const id = tag();
    const result = await execThroughBootstrap(sh(`sleep ${id} & echo started`));
    expect(result).toMatchObject({ exit_code: 0, stdout: "started\n" });
    expect(result.duration_ms).toBeLessThan(3_500);
    const [pid] = await until(() => processesWith(`sleep ${id}`), { what: "the child lives on" });
    if (pid !== undefined) process.kill(pid);
  });

  const failures: [string, object, object][] = [
    [
      "missing program",
      { command: "no-such-program" },
      { exit_code: 127, stderr: "[svc] command not found: no-such-program" },
    ],
    ["missing path", { command: "/no/such" }, { exit_code: 127 }],
    ["path beyond what the system takes", { command: `/${"x".repeat(5_000)}` }, { exit_code: 127 }],
    ["name beyond what the system takes", { command: "x".repeat(5_000) }, { exit_code: 127 }],
    ["empty command", { command: "" }, { exit_code: 127 }],
    ["not executable", { command: "/etc/passwd" }, { exit_code: 126, stderr: "[svc] not executable: /etc/passwd" }],
    ["a directory", { command: "/etc" }, { exit_code: 126 }],
    [
      "bad cwd",
      { command: "true", cwd: "/workspace/none" },
      { exit_code: -1, stderr: "[svc] cwd_not_found:/workspace/none" },
    ],
    [
      "cwd is a file",
      { command: "true", cwd: "/etc/passwd" },
      { exit_code: -1, stderr: "[svc] cwd_not_found:/etc/passwd" },
    ],
    ["unknown action", { action: "teleport", command: "true" }, { exit_code: -1, stderr: "unknown_action:teleport" }],
    ["exit code", sh("exit 200"), { exit_code: 200 }],
    ["signal", sh("kill -SEGV $$"), { exit_code: 139, signal: "SIGSEGV" }],
    ["NUL in an argument", { command: "echo", args: ["a\0b"] }, { exit_code: 126 }],
    ["argument list too long", { command: "echo", args: ["x".repeat(200_000)] }, { exit_code: 126 }],
  ];
  test.each(failures)("%s", async (_, members, expected) => {
    expect(await execThroughBootstrap(members)).toMatchObject(expected);
  });

  test("the default directory is the workspace, and paths under /workspace are mapped", async () => {
    const result = await execThroughBootstrap(sh("pwd; mkdir -p sub; cd sub; pwd"));
    const [first, second] = String(result.stdout).split("\n");
    expect(first).toContain("/workspace-");
    expect(second).toBe(`${first}/sub`);
    expect((await execThroughBootstrap({ command: "pwd", cwd: "/tmp" })).stdout).toBe("/tmp\n");
  });

  test("the token is in no variable, and additions are", async () => {
    const env = { SVC_LATER_URL: "x", AEGIS_ORCHESTRATOR_URL: "http://h:1/x/tok-5ecret/y" };
    const { stdout } = await execThroughBootstrap({ command: "env", env_additions: { MODE: "ci", N: 1 } }, { env });
    expect(stdout).not.toContain("tok-5ecret");
    expect(stdout).toContain("MODE=ci\n");
    expect(stdout).toContain("N=1\n");
    expect(stdout).toContain("AEGIS_ORCHESTRATOR_URL=http://h:1/y\n");
    expect(stdout).toContain("SVC_EXECUTION_ID=5b1e8a52-0d7e-4c3e-9a64-2f1b6c7d8e90\n");
  });

  test("standard input is empty, and outputs are real pipes", async () => {
    const result = await execThroughBootstrap(sh("cat; echo named > /dev/stderr; echo out > /dev/stdout"));
    expect(result).toMatchObject({ exit_code: 0, stdout: "out\n", stderr: "named\n" });
  });

  test("output over the cap is trimmed while it is read", async () => {
    const result = await execThroughBootstrap(
      sh("echo START; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo END; echo err >&2", {
        max_output_bytes: 1_000,
      }),
    );
    const stdout = String(result.stdout);
    expect(result).toMatchObject({
      exit_code: 0,
      truncated: true,
      stderr: "err\n",
      stdout_bytes: 100_000_011,
      stderr_bytes: 4,
    });
    expect(stdout.startsWith("START\nxxx")).toBe(true);
    expect(stdout.endsWith("x\nEND\n")).toBe(true);
    expect(stdout).toContain(`\n[trimmed ${100_000_011 - 239 - 717} bytes]\n`);
  }, 20_000);

  test("invalid bytes become replacement characters", async () => {
    const result = await execThroughBootstrap({ command: "printf", args: ["a\\377b"] });
    expect(result).toMatchObject({ stdout: "a\uFFFDb", stdout_bytes: 5 });
  });
});

describe("output of a command while it runs", () => {
  interface Chunk {
    readonly stream: string;
    readonly offset: number;
    readonly content: string;
    readonly truncated?: boolean;
  }
  const chunks = ({ output }: FakeGateway) => output.flatMap((body) => body.chunks as Chunk[]);

  /** Runs one command. @param noted how the gateway answers messages with output */
  async function watched(script: string, noted?: () => Response) {
    const command = dispatch(sh(script));
    const gateway = fakeGateway((_, n) => (n === 0 ? command : final("done")), { ...(noted && { noted }) });
    const run = await startBootstrap(gateway.url);
    return { gateway, command, run, result: run.end.then(() => gateway.seen[1]?.body ?? {}) };
  }

  test("is sent line by line, by stream and place, before the command is over", async () => {
    const { gateway, command, run, result } = await watched(
      "echo one; echo é >&2; while ! test -e go; do sleep 0.05; done",
    );
    await until(() => chunks(gateway).length === 2, { what: "the first lines" });
    expect(gateway.seen).toHaveLength(1);
    await Bun.write(`${run.workspace}/go`, "");
    expect(await result).toMatchObject({ exit_code: 0, stdout: "one\n", stderr: "é\n" });
    expect(gateway.output[0]).toMatchObject({ type: "dispatch_output", dispatch_id: command.dispatch_id });
    expect(chunks(gateway).sort((a, b) => (a.stream < b.stream ? 1 : -1))).toEqual([
      { stream: "stdout", offset: 0, content: "one\n" },
      { stream: "stderr", offset: 0, content: "é\n" },
    ]);
  });

  test("a command that is over at once is told by its result alone", async () => {
    const { gateway, result } = await watched("echo one");
    expect(await result).toMatchObject({ stdout: "one\n" });
    expect(gateway.output).toEqual([]);
  });

  test("a flood is cut to 64 KiB a second, marked, and its end is still in the result", async () => {
    const { gateway, result } = await watched("yes 0123456789abcdef | head -c 200000000; sleep 0.5; echo the end");
    const ended = await result;
    expect(ended).toMatchObject({ exit_code: 0, stdout_bytes: 200_000_008, truncated: true });
    expect(String(ended.stdout)).toEndWith("the end\n");
    const sent = chunks(gateway);
    const seconds = Math.ceil(Number(ended.duration_ms) / 1000) + 1;
    expect(sent.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(seconds * 65_536);
    expect(sent.some(({ truncated }) => truncated === true)).toBe(true);
    expect(gateway.output.length).toBeLessThanOrEqual(seconds * 4);
  });

  test("a busy gateway gets it again; one that does not know it is left alone", async () => {
    const script = "echo one; sleep 0.7; echo two; sleep 0.7";
    let tries = 0;
    const busy = await watched(script, () => new Response("{}", { status: ++tries === 1 ? 503 : 200 }));
    await busy.result;
    expect(
      chunks(busy.gateway)
        .map(({ content }) => content)
        .slice(0, 2),
    ).toEqual(["one\n", "one\n"]);
    const old = await watched(script, () => Response.json({ code: "unknown_message_type" }, { status: 422 }));
    expect(await old.result).toMatchObject({ stdout: "one\ntwo\n" });
    expect(old.gateway.output).toHaveLength(1);
  });
});
