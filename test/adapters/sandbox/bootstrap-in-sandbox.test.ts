/** The real bootstrap as instances run it: in each kind of sandbox, through the gateway's unix socket. */
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { gatewaySocketDirectory } from "../../../src/adapters/sandbox/process/layout.ts";
import { until } from "../../harness/until.ts";
import { dispatch, fakeGateway, final, type Script } from "../../programs/fake-gateway.ts";
import { bubblewrapWorks, processBench } from "./bench.ts";
import { type Bench, runToEnd, specOf } from "./conformance.ts";

const works = await bubblewrapWorks();

function socketGateway(dataDir: string, node: string, script: Script) {
  const unix = join(gatewaySocketDirectory(dataDir), `${node}.sock`);
  const gateway = fakeGateway(script, { unix });
  chmodSync(unix, 0o666);
  return gateway;
}

/** A port that nothing on this host listens on. */
const port = await freePort();
async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const free = server.port ?? 0;
  await server.stop(true);
  return free;
}

const environment = (executionId: string) => ({
  SVC_EXECUTION_ID: executionId,
  SVC_AGENT_ID: "",
  SVC_MODEL_ALIAS: "default",
  SVC_ORCHESTRATOR_URL: `http://127.0.0.1:${port}/x/tok-5ecret`,
  SVC_EXECUTION_TOKEN: "tok-5ecret",
});

function specFor(bench: Pick<Bench, "workspace">, prompt: string) {
  const executionId = crypto.randomUUID();
  return specOf(bench, prompt, { executionId, environment: environment(executionId) });
}

for (const bubblewrap of [true, false]) {
  describe.skipIf(bubblewrap && !works)(`bootstrap in a sandbox, bubblewrap ${bubblewrap ? "on" : "off"}`, () => {
    const withBench = async (body: (bench: Awaited<ReturnType<typeof processBench>>) => Promise<void>) => {
      const bench = await processBench({ bubblewrap, program: undefined });
      try {
        await body(bench);
      } finally {
        await bench.dispose();
      }
    };

    test("runs commands in the workspace and prints the final answer", async () => {
      await withBench(async (bench) => {
        const script = "pwd > where; echo made > file; env; cat /proc/self/environ | tr '\\0' '\\n'";
        const gateway = socketGateway(bench.dataDir, "a", (_, n) =>
          n === 0 ? dispatch({ command: "sh", args: ["-c", script] }) : final("fin"),
        );
        const spec = specFor(bench, "go");
        const { exit } = await runToEnd(bench.sandbox, spec);
        expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdout: "fin\n", stderr: "" });
        expect(gateway.seen[1]?.body.exit_code).toBe(0);
        expect(gateway.seen[1]?.text).not.toContain("tok-5ecret");
        const workspace = bench.workspace(spec.executionId);
        expect(await Bun.file(join(workspace, "where")).text()).toBe(bubblewrap ? "/workspace\n" : `${workspace}\n`);
        await gateway.stop();
      });
    });

    test.skipIf(!bubblewrap)("no process in the sandbox shows a command the token", async () => {
      await withBench(async (bench) => {
        const look = "id -u; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls /proc/2/fd";
        const gateway = socketGateway(bench.dataDir, "a", (_, n) =>
          n === 0 ? dispatch({ command: "sh", args: ["-c", look] }) : final("fin"),
        );
        const { exit } = await runToEnd(bench.sandbox, specFor(bench, "go"));
        expect(exit).toMatchObject({ exitCode: 0, stdout: "fin\n", stderr: "" });
        expect(gateway.seen[1]?.body.stdout).toStartWith("1000\n");
        expect(gateway.seen[1]?.body.stderr).toContain("Permission denied");
        expect(gateway.seen[1]?.text).not.toContain("tok-5ecret");
        await gateway.stop();
      });
    });

    test("a prompt of 300 KB and one with NUL arrive whole", async () => {
      await withBench(async (bench) => {
        const gateway = socketGateway(bench.dataDir, "a", () => final("ok"));
        const prompts = ["é".repeat(150_000), "a\0b"];
        for (const prompt of prompts)
          expect((await runToEnd(bench.sandbox, specFor(bench, prompt))).exit.exitCode).toBe(0);
        expect(gateway.seen.map(({ body }) => body.prompt)).toEqual(prompts);
        await gateway.stop();
      });
    });

    test("another node of the host takes over in the middle", async () => {
      await withBench(async (bench) => {
        const first = socketGateway(bench.dataDir, "a", () =>
          dispatch({ command: "sh", args: ["-c", "while [ ! -e go ]; do sleep 0.05; done; echo went"] }),
        );
        const spec = specFor(bench, "go");
        const end = runToEnd(bench.sandbox, spec);
        await until(() => first.seen.length === 1, { what: "the question" });
        await first.stop();
        const second = socketGateway(bench.dataDir, "b", () => final("taken over"));
        await Bun.write(join(bench.workspace(spec.executionId), "go"), "");
        expect((await end).exit).toMatchObject({ exitCode: 0, stdout: "taken over\n" });
        expect(second.seen[0]?.body).toMatchObject({ type: "dispatch_result", stdout: "went\n" });
        await second.stop();
      });
    });

    test("terminate lets the bootstrap end its command: 143", async () => {
      await withBench(async (bench) => {
        const gateway = socketGateway(bench.dataDir, "a", () => dispatch({ command: "sleep", args: ["3457"] }));
        const spec = specFor(bench, "go");
        const end = runToEnd(bench.sandbox, spec);
        await until(() => gateway.seen.length === 1, { what: "the question" });
        const started = performance.now();
        await bench.sandbox.terminate(spec.instanceId, 5_000);
        expect(performance.now() - started).toBeLessThan(3_000);
        expect((await end).exit).toMatchObject({ reason: "terminated", exitCode: 143 });
        await gateway.stop();
      });
    });

    test("configuration left in the workspace does not reach the next bootstrap", async () => {
      await withBench(async (bench) => {
        const gateway = socketGateway(bench.dataDir, "a", () => final("clean"));
        const spec = specFor(bench, "go");
        const workspace = bench.workspace(spec.executionId);
        for (const name of ["bunfig.toml", ".bunfig.toml"])
          await Bun.write(join(workspace, name), 'preload = ["/workspace/evil.ts"]\n');
        await Bun.write(join(workspace, "evil.ts"), "console.log('EVIL')");
        await Bun.write(join(workspace, ".env"), "SVC_MODEL_ALIAS=evil");
        expect((await runToEnd(bench.sandbox, spec)).exit.stdout).toBe("clean\n");
        expect(gateway.seen[0]?.body.model_alias).toBe("default");
        await gateway.stop();
      });
    });
  });
}

describe.skipIf(!works)("programs that know nothing of the sockets (seal-tools-dispatch 31)", () => {
  test("the orchestrator's address works as given, within the sandbox only", async () => {
    const bench = await processBench({ program: undefined });
    const fetchLine =
      "const r = await fetch(process.env.URL + '/v1/dispatch-gateway', {method:'POST', body: JSON.stringify({type:'hello', big: 'x'.repeat(3e6)})}); console.log(r.status, (await r.text()).length)";
    const gateway = socketGateway(bench.dataDir, "a", ({ body }, n) => {
      if (body.type === "hello") return { answer: "y".repeat(2_000_000) };
      const dispatched = {
        command: "/run/svc/bun",
        args: ["-e", fetchLine],
        env_additions: { URL: `http://127.0.0.1:${port}/x/tok` },
      };
      return n === 0 ? dispatch(dispatched) : final("fin");
    });
    const { exit } = await runToEnd(bench.sandbox, specFor(bench, "go"));
    expect(exit).toMatchObject({ exitCode: 0, stdout: "fin\n", stderr: "" });
    expect(gateway.seen[1]?.path).toBe("/x/tok/v1/dispatch-gateway");
    expect(gateway.seen[2]?.body).toMatchObject({ exit_code: 0, stdout: "200 2000013\n" });
    expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    await gateway.stop();
    await bench.dispose();
  });
});
