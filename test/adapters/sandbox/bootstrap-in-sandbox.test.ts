/** The real bootstrap as instances run it: in each kind of sandbox, through the gateway's unix socket. */
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { makeSocketFolder } from "../../../src/lib/sockets/tenant-sockets.ts";
import { until } from "../../harness/until.ts";
import { dispatch, fakeGateway, final, type Script } from "../../programs/fake-gateway.ts";
import { bubblewrapWorks, processFixture } from "./fixture.ts";
import { runToEnd, type SandboxFixture, sampleTenant, specOf } from "./instances.ts";

const works = await bubblewrapWorks();

function socketGateway(dataDir: string, node: string, script: Script) {
  const unix = join(makeSocketFolder(join(dataDir, "gateway"), sampleTenant), `${node}.sock`);
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

function specFor(fixture: Pick<SandboxFixture, "workspace">, prompt: string) {
  const executionId = crypto.randomUUID();
  return specOf(fixture, prompt, { executionId, environment: environment(executionId) });
}

const kinds = [
  { bubblewrap: true, cgroups: true, name: "bubblewrap on" },
  // The limits that stand in for control groups must leave our own programs their room.
  { bubblewrap: true, cgroups: false, name: "bubblewrap on, no control groups" },
  { bubblewrap: false, cgroups: true, name: "bubblewrap off" },
];

for (const { bubblewrap, cgroups, name } of kinds) {
  describe.skipIf(bubblewrap && !works)(`bootstrap in a sandbox, ${name}`, () => {
    const withFixture = async (body: (fixture: Awaited<ReturnType<typeof processFixture>>) => Promise<void>) => {
      const fixture = await processFixture({ bubblewrap, cgroups, program: undefined });
      try {
        await body(fixture);
      } finally {
        await fixture.dispose();
      }
    };

    test("runs commands in the workspace and prints the final answer", async () => {
      await withFixture(async (fixture) => {
        const script = "pwd > where; echo made > file; env; cat /proc/self/environ | tr '\\0' '\\n'";
        const gateway = socketGateway(fixture.dataDir, "a", (_, n) =>
          n === 0 ? dispatch({ command: "sh", args: ["-c", script] }) : final("fin"),
        );
        const spec = specFor(fixture, "go");
        const { exit } = await runToEnd(fixture.sandbox, spec);
        expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdout: "fin\n", stderr: "" });
        expect(gateway.seen[1]?.body.exit_code).toBe(0);
        expect(gateway.seen[1]?.text).not.toContain("tok-5ecret");
        const workspace = fixture.workspace(spec.executionId);
        expect(await Bun.file(join(workspace, "where")).text()).toBe(bubblewrap ? "/workspace\n" : `${workspace}\n`);
        await gateway.stop();
      });
    });

    test.skipIf(!bubblewrap)("no process in the sandbox shows a command the token", async () => {
      await withFixture(async (fixture) => {
        const look = "id -u; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls /proc/2/fd";
        const gateway = socketGateway(fixture.dataDir, "a", (_, n) =>
          n === 0 ? dispatch({ command: "sh", args: ["-c", look] }) : final("fin"),
        );
        const { exit } = await runToEnd(fixture.sandbox, specFor(fixture, "go"));
        expect(exit).toMatchObject({ exitCode: 0, stdout: "fin\n", stderr: "" });
        expect(gateway.seen[1]?.body.stdout).toStartWith("1000\n");
        expect(gateway.seen[1]?.body.stderr).toContain("Permission denied");
        expect(gateway.seen[1]?.text).not.toContain("tok-5ecret");
        await gateway.stop();
      });
    });

    test("a prompt of 300 KB and one with NUL arrive whole", async () => {
      await withFixture(async (fixture) => {
        const gateway = socketGateway(fixture.dataDir, "a", () => final("ok"));
        const prompts = ["é".repeat(150_000), "a\0b"];
        for (const prompt of prompts)
          expect((await runToEnd(fixture.sandbox, specFor(fixture, prompt))).exit.exitCode).toBe(0);
        expect(gateway.seen.map(({ body }) => body.prompt)).toEqual(prompts);
        await gateway.stop();
      });
    });

    test("another node of the host takes over in the middle", async () => {
      await withFixture(async (fixture) => {
        const first = socketGateway(fixture.dataDir, "a", () =>
          dispatch({ command: "sh", args: ["-c", "while [ ! -e go ]; do sleep 0.05; done; echo went"] }),
        );
        const spec = specFor(fixture, "go");
        const end = runToEnd(fixture.sandbox, spec);
        await until(() => first.seen.length === 1, { what: "the question" });
        await first.stop();
        const second = socketGateway(fixture.dataDir, "b", () => final("taken over"));
        await Bun.write(join(fixture.workspace(spec.executionId), "go"), "");
        expect((await end).exit).toMatchObject({ exitCode: 0, stdout: "taken over\n" });
        expect(second.seen[0]?.body).toMatchObject({ type: "dispatch_result", stdout: "went\n" });
        await second.stop();
      });
    });

    test("terminate lets the bootstrap end its command: 143", async () => {
      await withFixture(async (fixture) => {
        const gateway = socketGateway(fixture.dataDir, "a", () => dispatch({ command: "sleep", args: ["3457"] }));
        const spec = specFor(fixture, "go");
        const end = runToEnd(fixture.sandbox, spec);
        await until(() => gateway.seen.length === 1, { what: "the question" });
        await fixture.sandbox.terminate(spec.instanceId, 5_000);
        expect((await end).exit).toMatchObject({ reason: "terminated", exitCode: 143 });
        await gateway.stop();
      });
    });

    test("configuration left in the workspace does not reach the next bootstrap", async () => {
      await withFixture(async (fixture) => {
        const gateway = socketGateway(fixture.dataDir, "a", () => final("clean"));
        const spec = specFor(fixture, "go");
        const workspace = fixture.workspace(spec.executionId);
        for (const name of ["bunfig.toml", ".bunfig.toml"])
          await Bun.write(join(workspace, name), 'preload = ["/workspace/evil.ts"]\n');
        await Bun.write(join(workspace, "evil.ts"), "console.log('EVIL')");
        await Bun.write(join(workspace, ".env"), "SVC_MODEL_ALIAS=evil");
        expect((await runToEnd(fixture.sandbox, spec)).exit.stdout).toBe("clean\n");
        expect(gateway.seen[0]?.body.model_alias).toBe("default");
        await gateway.stop();
      });
    });
  });
}

describe.skipIf(!works)("programs that know nothing of the sockets", () => {
  test("the orchestrator's address works as given, within the sandbox only", async () => {
    const fixture = await processFixture({ program: undefined });
    const fetchLine =
      "const r = await fetch(process.env.URL + '/v1/dispatch-gateway', {method:'POST', body: JSON.stringify({type:'hello', big: 'x'.repeat(3e6)})}); console.log(r.status, (await r.text()).length)";
    const gateway = socketGateway(fixture.dataDir, "a", ({ body }, n) => {
      if (body.type === "hello") return { answer: "y".repeat(2_000_000) };
      const dispatched = {
        command: "/run/svc/bun",
        args: ["-e", fetchLine],
        env_additions: { URL: `http://127.0.0.1:${port}/x/tok` },
      };
      return n === 0 ? dispatch(dispatched) : final("fin");
    });
    const { exit } = await runToEnd(fixture.sandbox, specFor(fixture, "go"));
    expect(exit).toMatchObject({ exitCode: 0, stdout: "fin\n", stderr: "" });
    expect(gateway.seen[1]?.path).toBe("/x/tok/v1/dispatch-gateway");
    expect(gateway.seen[2]?.body).toMatchObject({ exit_code: 0, stdout: "200 2000013\n" });
    expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    await gateway.stop();
    await fixture.dispose();
  });
});
