/** What every sandbox adapter must do with mounts, startup scripts, replaced bootstraps and egress. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startupFailure } from "../../../src/adapters/sandbox/instance-environment.ts";
import { type InstanceSpec, LaunchFailure, type Sandbox } from "../../../src/adapters/sandbox/port.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { runToEnd, type SandboxFixture, specOf, untilOutput } from "./instances.ts";

const token = "tok-5ecret";
const address = "http://127.0.0.1:18081";
const secrets = {
  SVC_EXECUTION_TOKEN: token,
  AEGIS_EXECUTION_TOKEN: token,
  SVC_ORCHESTRATOR_URL: `${address}/x/${token}`,
  AEGIS_ORCHESTRATOR_URL: `${address}/x/${token}`,
};

/** Run over the same adapters as `sandboxConformance`; the prompt is a shell script there, too. */
export function optionsConformance(name: string, make: () => Promise<SandboxFixture>): void {
  describe(`sandbox port, further members: ${name}`, () => {
    let fixture: SandboxFixture;
    let sandbox: Sandbox;
    beforeAll(async () => {
      fixture = await make();
      sandbox = fixture.sandbox;
    });
    afterAll(() => fixture.dispose());
    const spec = (prompt: string, changes: Partial<InstanceSpec> = {}) => specOf(fixture, prompt, changes);
    const run = async (given: InstanceSpec) => (await runToEnd(sandbox, given)).exit;
    /** Where a host has it, the case is run; else the launch has to say no. */
    const refused = async (given: InstanceSpec, code: LaunchFailure["code"]) => {
      const failure = await sandbox.launch(given, () => {}).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(LaunchFailure);
      expect(failure).toHaveProperty("code", code);
    };

    describe("mounts", () => {
      test("read-write and read-only, each nested in the other", async () => {
        const [inner, readOnly, deep] = [fixture.volume(), fixture.volume(), fixture.volume()];
        writeFileSync(join(readOnly, "given"), "from-host");
        const base = spec(
          `cat ro/given; for f in top rw/a ro/b ro/deep/er/c; do (echo x > $f) 2>/dev/null && echo wrote $f; done; true`,
        );
        const given = {
          ...base,
          mounts: [
            ...base.mounts,
            { source: inner, target: "/workspace/rw", readOnly: false },
            { source: readOnly, target: "/workspace/ro", readOnly: true },
            { source: deep, target: "/workspace/ro/deep/er", readOnly: false },
          ],
        };
        if (!fixture.holds.mounts) return refused(given, "volume_error");
        expect((await run(given)).stdout).toBe("from-hostwrote top\nwrote rw/a\nwrote ro/deep/er/c\n");
        expect(readFileSync(join(inner, "a"), "utf8")).toBe("x\n");
        expect(readFileSync(join(deep, "c"), "utf8")).toBe("x\n");
        expect(existsSync(join(readOnly, "b"))).toBe(false);
      });

      test("a read-only workspace, and a read-only root with a small /tmp", async () => {
        const base = spec(
          "for d in /workspace / /usr /etc /var /root; do (echo x > $d/x) 2>/dev/null && echo wrote $d; done; echo x > /tmp/x && echo tmp; head -c 100000000 /dev/zero 2>/dev/null > /tmp/big; [ $(wc -c < /tmp/big) -le 67108864 ] && echo small",
          { readOnlyRoot: true },
        );
        const given = { ...base, mounts: base.mounts.map((mount) => ({ ...mount, readOnly: true })) };
        if (!fixture.holds.mounts) return refused(given, "volume_error");
        const roomy = { ...base.limits, memoryBytes: 256 * 2 ** 20, diskBytes: 2 ** 30 };
        expect((await run({ ...given, limits: roomy })).stdout).toBe("tmp\nsmall\n");
      });

      test("a link that an agent left where a volume goes does not lead out", async () => {
        const outside = fixture.volume();
        const base = spec("ls -d v/made; true");
        symlinkSync(outside, join(base.mounts[0]?.source ?? "", "v"));
        const target = "/workspace/v/made";
        await refused(
          { ...base, mounts: [...base.mounts, { source: fixture.volume(), target, readOnly: false }] },
          "volume_error",
        );
        expect(existsSync(join(outside, "made"))).toBe(false);
      });

      test.each(["/etc", "/workspace/../etc", "/workspace/.", "relative"])(
        "nothing is mounted at %s",
        async (target) => {
          const base = spec("true");
          const mounts = [...base.mounts, { source: fixture.volume(), target, readOnly: false }];
          await refused({ ...base, mounts }, "volume_error");
        },
      );

      test("a source that is not there, and no workspace at all, are volume errors", async () => {
        const base = spec("true");
        await refused(
          { ...base, mounts: [{ source: join(fixture.volume(), "gone"), target: "/workspace", readOnly: false }] },
          "volume_error",
        );
        await refused({ ...base, mounts: [] }, "volume_error");
      });
    });

    describe("startup script", () => {
      test("runs first, in the workspace; its output is told apart from the iteration's", async () => {
        const given = spec("cat made; echo err >&2", {
          startupScript: "pwd; echo from-script > made; echo loud >&2; echo named > /dev/stderr; printf unended",
        });
        const { exit, chunks } = await runToEnd(sandbox, given);
        expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdout: "from-script\n" });
        expect(startupFailure(exit)).toBe(null);
        const lines = exit.stderr.split("\n");
        expect(lines.filter((line) => !line.startsWith("[BOOTSTRAP STARTUP] "))).toEqual(["err", ""]);
        for (const said of ["loud", "named", "unended"]) expect(lines).toContain(`[BOOTSTRAP STARTUP] ${said}`);
        if (fixture.holds.mounts) expect(lines).toContain("[BOOTSTRAP STARTUP] /workspace");
        expect(chunks.map(({ content }) => content).join("")).toContain("loud");
      });

      test("one that fails keeps the program from running, and says why", async () => {
        const exit = await run(
          spec("echo RAN; touch ran", { startupScript: "echo out; echo 'no such \"package\"' >&2; exit 3" }),
        );
        expect(exit).toMatchObject({ reason: "exited", exitCode: 121, stdout: "" });
        expect(startupFailure(exit)).toBe('The startup script exited with 3: no such "package"');
      });

      test("the exit code alone is no failed startup script", async () => {
        expect(startupFailure(await run(spec("exit 121", { startupScript: "true" })))).toBe(null);
      });

      test("never sees the execution token, in its own environment or another's", async () => {
        const others = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'";
        const look = `env; ${fixture.holds.network ? others : "true"}; true`;
        const given = spec("env", { environment: secrets, startupScript: look });
        const { stdout, stderr } = await run(given);
        if (fixture.holds.network) expect(stderr).not.toContain(token);
        const own = stderr.split("\n").filter((line) => /(SVC|AEGIS)_ORCHESTRATOR_URL=/.test(line));
        expect(own.length).toBeGreaterThanOrEqual(2);
        expect(stderr).toContain(`SVC_ORCHESTRATOR_URL=${address}\n`);
        expect(stdout).toContain(`SVC_ORCHESTRATOR_URL=${address}/x/${token}\n`);
        expect(stdout).toContain(`SVC_EXECUTION_TOKEN=${token}\n`);
      });

      test("what it leaves running cannot read the token of the program that follows", async () => {
        if (!fixture.holds.network) return;
        const spy =
          "while :; do cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a EXECUTION_TOKEN >> stolen; done";
        const given = spec("sleep 0.5; cat stolen; true", {
          environment: secrets,
          startupScript: `setsid sh -c '${spy.replaceAll("'", "'\\''")}' >/dev/null 2>&1 &`,
        });
        expect((await run(given)).stdout).toBe("");
      });

      test("ends with the instance when that is terminated", async () => {
        const tag = `33${Math.floor(Math.random() * 1e6)}`;
        const given = spec("echo RAN", { startupScript: `echo up; sleep ${tag}` });
        await sandbox.launch(given, () => {});
        expect(await untilOutput(sandbox, given.instanceId)).toContain("up");
        await sandbox.terminate(given.instanceId, 2_000);
        expect(await run(given)).toMatchObject({ reason: "terminated", stdout: "" });
        await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "no process left" });
      });

      test("sees what fills 64 KiB, and arrives whole", async () => {
        const filler = `# ${"x".repeat(65_000)}\n`;
        expect((await run(spec("cat end", { startupScript: `${filler}echo done > end` }))).stdout).toBe("done\n");
      });
    });

    describe("bootstrap_path", () => {
      /** A program in the workspace, which is inside in every kind of sandbox. */
      const placed = (file: string, text: string, mode: number, changes: Partial<InstanceSpec> = {}) => {
        const given = spec("the prompt", { environment: { ...secrets, EXTRA: "1" }, ...changes });
        const directory = given.mounts[0]?.source ?? "";
        writeFileSync(join(directory, file), text);
        chmodSync(join(directory, file), mode);
        return { ...given, bootstrapPath: fixture.holds.mounts ? `/workspace/${file}` : join(directory, file) };
      };

      test("runs an executable directly; argument, environment, exit code and cwd are kept", async () => {
        const text = '#!/bin/sh\necho "$# $1 $EXTRA $SVC_EXECUTION_TOKEN"\npwd -P > where\necho bad >&2\nexit 9\n';
        const given = placed("program", text, 0o755);
        expect(await run(given)).toMatchObject({
          exitCode: 9,
          stdout: `1 the prompt 1 ${token}\n`,
          stderr: "bad\n",
        });
        const where = readFileSync(join(given.mounts[0]?.source ?? "", "where"), "utf8");
        if (fixture.holds.mounts) expect(where).toBe("/workspace\n");
      });

      test("one that is not executable is run by its suffix", async () => {
        expect(await run(placed("a.sh", 'echo "sh $1"', 0o644))).toMatchObject({
          exitCode: 0,
          stdout: "sh the prompt\n",
        });
      });

      test("what cannot be run says so: 126, what is not there: 127", async () => {
        expect(await run(placed("a.txt", "x", 0o644))).toMatchObject({ exitCode: 126, stdout: "" });
        const gone = await run({ ...placed("b", "", 0o755), bootstrapPath: "/workspace/gone" });
        expect(gone).toMatchObject({ exitCode: 127, stdout: "" });
        expect(gone.stderr).toStartWith("[BOOTSTRAP ERROR] ");
      });

      test("a long prompt comes by standard input and by file", async () => {
        const prompt = "é".repeat(100_000);
        const text = '#!/bin/sh\nwc -c; wc -c < "$SVC_PROMPT_FILE"; echo $#\n';
        expect((await run(placed("program", text, 0o755, { prompt }))).stdout).toBe("200000\n200000\n0\n");
      });

      test("signals go through, and the exit code comes back", async () => {
        const text = "#!/bin/sh\ntrap 'echo bye; exit 42' TERM\necho up\nwhile :; do sleep 0.05; done\n";
        const given = placed("program", text, 0o755);
        await sandbox.launch(given, () => {});
        await untilOutput(sandbox, given.instanceId);
        await sandbox.terminate(given.instanceId, 5_000);
        expect(await run(given)).toMatchObject({ reason: "terminated", exitCode: 42, stdout: "up\nbye\n" });
        expect(await run(placed("killed", "#!/bin/sh\nkill -KILL $$\n", 0o755))).toMatchObject({ exitCode: 137 });
      });

      test("together with a startup script", async () => {
        const given = placed("program", "#!/bin/sh\ncat made\n", 0o755, { startupScript: "echo first > made" });
        expect(await run(given)).toMatchObject({ exitCode: 0, stdout: "first\n" });
      });
    });

    describe("egress", () => {
      const egress = { username: "svc", password: "p/w=1" };

      test("without it there is no socket, no port and no proxy variable", async () => {
        if (!fixture.holds.network) return;
        mkdirSync(join(fixture.egressSocket("x"), ".."), { recursive: true });
        using proxy = socketServer(fixture.egressSocket("none"));
        const script = `env | grep -i _proxy; ls /run/svc/egress 2>/dev/null; ${ask(8082)}; echo end`;
        expect((await run(spec(script))).stdout).toBe("end\n");
        expect(proxy.seen).toEqual([]);
      });

      test("with it the proxy answers at 127.0.0.1:8082, and programs are told in both cases", async () => {
        const given = spec(`env | grep -i _proxy | sort; ${ask(8082)}`, { egress, environment: secrets });
        if (!fixture.holds.network) return refused(given, "runtime_error");
        using proxy = socketServer(fixture.egressSocket("one"));
        const { stdout } = await run(given);
        const url = "http://svc:p%2Fw%3D1@127.0.0.1:8082";
        for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) {
          expect(stdout).toContain(`${name}=${url}\n`);
        }
        for (const name of ["NO_PROXY", "no_proxy"]) expect(stdout).toContain(`${name}=127.0.0.1,localhost\n`);
        expect(stdout).toEndWith("ANSWER\n");
        expect(proxy.seen).toEqual(["hello\n"]);
      });
    });
  });
}

/** Shell that says hello to a loopback port and prints what comes back; silent when there is nobody. */
const ask = (port: number) =>
  `{ if command -v bash >/dev/null; then bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo hello >&3 && head -n 1 <&3'; else echo hello | nc 127.0.0.1 ${port}; fi; } 2>/dev/null`;

function socketServer(path: string): Disposable & { readonly seen: string[] } {
  const seen: string[] = [];
  const server = Bun.listen({
    unix: path,
    socket: {
      data(socket, data) {
        seen.push(data.toString());
        socket.end("ANSWER\n");
      },
    },
  });
  chmodSync(path, 0o666);
  return { seen, [Symbol.dispose]: () => server.stop(true) };
}
