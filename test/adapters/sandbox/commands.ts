/** What every sandbox adapter must do with commands (docs/reference/workflows.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Command,
  type InstanceSpec,
  LaunchFailure,
  type Sandbox,
} from "../../../src/adapters/sandbox/instance.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { runToEnd, type SandboxFixture, specOf, untilOutput } from "./instances.ts";

const mebibyte = 1_024 * 1_024;
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A sandboxed command as a System state asks for it. */
export function commandSpec(
  fixture: Pick<SandboxFixture, "workspace">,
  command: Partial<Command> & Pick<Command, "argv">,
  changes: Partial<InstanceSpec> = {},
): InstanceSpec {
  return specOf(fixture, "", {
    environment: {},
    readOnlyRoot: true,
    command: { workdir: "/workspace", user: null, ...command },
    ...changes,
  });
}

/** Run over every adapter that really holds what it runs. */
export function commandConformance(name: string, make: () => Promise<SandboxFixture>): void {
  describe(`sandbox port, commands: ${name}`, () => {
    let fixture: SandboxFixture;
    let sandbox: Sandbox;
    beforeAll(async () => {
      fixture = await make();
      sandbox = fixture.sandbox;
    });
    afterAll(() => fixture.dispose());
    const script = (text: string, changes: Partial<InstanceSpec> = {}) =>
      commandSpec(fixture, { argv: ["/bin/sh", "-c", text] }, changes);
    const run = async (spec: InstanceSpec) => (await runToEnd(sandbox, spec)).exit;

    test("gets exactly the given environment, PATH and HOME", async () => {
      process.env.SERVICE_SECRET_OF_TEST = "leak";
      const given = { GREETING: 'it\'s $HOME\n"quoted"', EMPTY: "", UMLAUT: "ü" };
      const exit = await run(commandSpec(fixture, { argv: ["env", "-0"] }, { environment: given }));
      delete process.env.SERVICE_SECRET_OF_TEST;
      const seen = Object.fromEntries(
        exit.stdout
          .split("\0")
          .filter((line) => line !== "")
          .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
      );
      expect(seen).toEqual({ ...given, PATH: path, HOME: "/workspace" });
      expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stderr: "" });
    });

    test("its own PATH and HOME stand, and decide which program runs", async () => {
      const spec = commandSpec(
        fixture,
        { argv: ["mine", "a b", "$HOME", ""] },
        { environment: { PATH: "/workspace", HOME: "/tmp" } },
      );
      const program = join(fixture.workspace(spec.executionId), "mine");
      writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$HOME" "$#" "$@"\n');
      chmodSync(program, 0o755);
      expect(await run(spec)).toMatchObject({ exitCode: 0, stdout: "/tmp|3|a b|$HOME||" });
    });

    test("arguments of any form arrive unchanged", async () => {
      const words = ["-n", "--", "a=b", "'", '"', "\\", "$(id)", "`id`", ";", "\n", "é\u{1f600}", "", "*"];
      const exit = await run(
        commandSpec(fixture, { argv: ["/bin/sh", "-c", 'printf "%s\\n" "$@" end', "sh", ...words] }),
      );
      expect(exit.stdout).toBe([...words, "end", ""].join("\n"));
    });

    test("is an ordinary user without any privilege, alone in its namespaces", async () => {
      const exit = await run(
        script(
          "id -u; id -g; id -G; grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status; echo $$; " +
            "for n in pid ipc mnt net; do readlink /proc/self/ns/$n; done; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '",
        ),
      );
      const lines = exit.stdout.trim().split("\n");
      expect(lines.slice(0, 3)).toEqual(["1000", "1000", "1000"]);
      for (const name of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
        expect(lines).toContain(`${name}:\t0000000000000000`);
      }
      expect(lines).toContain("NoNewPrivs:\t1");
      expect(Number(lines[9])).toBeLessThan(20);
      for (const [at, ns] of ["pid", "ipc", "mnt", "net"].entries()) {
        expect(lines[10 + at]).toMatch(new RegExp(`^${ns}:`));
        expect(lines[10 + at]).not.toBe(readlink(`/proc/self/ns/${ns}`));
      }
      expect(lines.slice(14)).toEqual(["lo"]);
    });

    test("finds no gateway, no proxy, no socket and nothing of ours", async () => {
      mkdirSync(join(fixture.gatewaySocket("x"), ".."), { recursive: true });
      writeFileSync(fixture.gatewaySocket("x"), "");
      const exit = await run(
        script(
          "ls -d /run/svc/gateway /run/svc/egress /run/docker.sock /var/run/docker.sock 2>/dev/null; env | grep -i -e svc -e proxy -e token; echo end",
        ),
      );
      expect(exit.stdout).toBe("end\n");
    });

    test("writes to /workspace and /tmp and nowhere else", async () => {
      const exit = await run(
        script(
          "for d in / /bin /dev /dev/shm /dev/mqueue /etc /home /opt /proc /root /run /run/svc /run/svc/control /srv /sys /tmp /usr /usr/local /var /var/tmp /var/log /workspace; " +
            "do (echo x > $d/made) 2>/dev/null && echo $d; done; true",
        ),
      );
      expect(exit.stdout).toBe("/tmp\n/workspace\n");
    });

    test("starts in its directory, and says so when there is none", async () => {
      const spec = commandSpec(fixture, { argv: ["/bin/pwd"], workdir: "/workspace/a b" });
      mkdirSync(join(fixture.workspace(spec.executionId), "a b"));
      expect(await run(spec)).toMatchObject({ exitCode: 0, stdout: "/workspace/a b\n" });
      const nowhere = await run(commandSpec(fixture, { argv: ["/bin/pwd"], workdir: "/workspace/gone" }));
      expect(nowhere).toMatchObject({ reason: "exited", exitCode: 126, stdout: "" });
      expect(nowhere.stderr).toContain("/workspace/gone");
    });

    test.each([
      ["no-such-program", 127],
      ["/workspace/gone", 127],
      ["", 127],
      ["-x", 127],
      ["x=y", 127],
      ["/workspace", 126],
      ["/workspace/plain", 126],
    ])("program %p exits with %i", async (program, code) => {
      const spec = commandSpec(fixture, { argv: [program] });
      writeFileSync(join(fixture.workspace(spec.executionId), "plain"), "text");
      const exit = await run(spec);
      expect(exit).toMatchObject({ reason: "exited", exitCode: code, stdout: "" });
      expect(exit.stderr).not.toBe("");
    });

    test.each([
      ["exit 7", 7],
      ["kill -KILL $$", 137],
      ["kill -TERM $$", 143],
      ["kill -SEGV $$", 139],
    ])("%p exits with %i", async (text, code) => {
      expect(await run(script(text))).toMatchObject({ reason: "exited", exitCode: code });
    });

    test("reads nothing from its standard input", async () => {
      expect(await run(commandSpec(fixture, { argv: ["cat"] }))).toMatchObject({ exitCode: 0, stdout: "" });
    });

    test("of each stream the last mebibyte is kept", async () => {
      const exit = await run(
        script("for s in 1 2; do { echo first; head -c 3000000 /dev/zero | tr '\\0' $s; echo last$s; } >&$s; done"),
      );
      for (const [text, digit] of [
        [exit.stdout, "1"],
        [exit.stderr, "2"],
      ] as const) {
        expect(Buffer.byteLength(text)).toBe(mebibyte);
        expect(text).toMatch(new RegExp(`^${digit}+last${digit}\\n$`));
      }
      expect(exit).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: true });
      const fits = await run(
        script(`head -c ${mebibyte} /dev/zero | tr '\\0' x; head -c 200000 /dev/zero | tr '\\0' y >&2`),
      );
      expect(fits).toMatchObject({ stdoutTruncated: false, stderrTruncated: false, stderr: "y".repeat(200_000) });
      expect(fits.stdout).toBe("x".repeat(mebibyte));
    }, 30_000);

    test("output of a command that is killed is kept up to its end", async () => {
      const spec = script(
        "trap '' TERM; head -c 2500000 /dev/zero | tr '\\0' x; echo last; echo up >&2; while :; do sleep 0.05; done",
      );
      await sandbox.launch(spec, () => {});
      const followed = Promise.withResolvers<void>();
      const seen = sandbox.follow(spec.instanceId, {
        signal: AbortSignal.timeout(30_000),
        from: { stdout: 0, stderr: 0 },
        onOutput: ({ stream }) => stream === "stderr" && followed.resolve(),
      });
      await followed.promise;
      await sandbox.terminate(spec.instanceId, 200);
      const exit = await seen;
      expect(exit).toMatchObject({ reason: "terminated", stdoutTruncated: true, stderr: "up\n" });
      expect(exit.stdout.endsWith("xlast\n")).toBe(true);
      expect(Buffer.byteLength(exit.stdout)).toBe(mebibyte);
    });

    test("terminate reaches the whole process group", async () => {
      const spec = script(
        "trap 'wait; echo outer; exit 3' TERM; sh -c 'trap \"echo inner; exit 0\" TERM; echo up; while :; do sleep 0.05; done' & wait",
      );
      await sandbox.launch(spec, () => {});
      expect(await untilOutput(sandbox, spec.instanceId)).toContain("up");
      await sandbox.terminate(spec.instanceId, 5_000);
      expect(await run(spec)).toMatchObject({ reason: "terminated", exitCode: 3, stdout: "up\ninner\nouter\n" });
    });

    test("what ignores SIGTERM is killed after the grace, with all it started", async () => {
      const tag = `34${Math.floor(Math.random() * 1e6)}`;
      const spec = script(
        `trap '' TERM; (setsid sleep ${tag} >/dev/null 2>&1 &); echo up; while :; do sleep 0.05; done`,
      );
      await sandbox.launch(spec, () => {});
      await untilOutput(sandbox, spec.instanceId);
      await until(() => processesWith(`sleep ${tag}`).length > 0, { what: "the child" });
      await (await fixture.another()).terminate(spec.instanceId, 500);
      expect((await run(spec)).reason).toBe("terminated");
      await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "no process left" });
    });

    test("runs once, and another node follows it to its end", async () => {
      const spec = script("echo x >> runs; echo up; while [ ! -e go ]; do sleep 0.05; done; echo done");
      const other = await fixture.another();
      await Promise.all([sandbox.launch(spec, () => {}), other.launch(spec, () => {})]);
      await untilOutput(sandbox, spec.instanceId);
      expect(await other.inspect(spec.instanceId)).toBe("running");
      expect(await other.list()).toContainEqual({ instanceId: spec.instanceId, executionId: spec.executionId });
      writeFileSync(join(fixture.workspace(spec.executionId), "go"), "");
      expect((await runToEnd(other, spec)).exit).toMatchObject({ exitCode: 0, stdout: "up\ndone\n" });
      expect(readFileSync(join(fixture.workspace(spec.executionId), "runs"), "utf8")).toBe("x\n");
      await other.remove(spec.instanceId);
      expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
    });

    test("what no program can be given is refused before anything runs", async () => {
      const long = "x".repeat(131_072);
      const cases: InstanceSpec[] = [
        commandSpec(fixture, { argv: ["echo", "a\0b"] }),
        commandSpec(fixture, { argv: ["echo", long] }),
        commandSpec(fixture, { argv: [] }),
        commandSpec(fixture, { argv: ["true"] }, { environment: { A: long } }),
        commandSpec(fixture, { argv: ["true"] }, { environment: { A: "a\0" } }),
      ];
      for (const spec of cases) {
        const failure = await sandbox.launch(spec, () => {}).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(LaunchFailure);
        expect(failure).toHaveProperty("code", "template_value_invalid");
        expect(await sandbox.inspect(spec.instanceId)).toBe("gone");
      }
      const nearly = { A: "x".repeat(131_000) };
      expect(
        await run(
          commandSpec(fixture, { argv: ["/bin/sh", "-c", "env | grep '^A=' | wc -c"] }, { environment: nearly }),
        ),
      ).toMatchObject({ stdout: "131003\n" });
      const root = commandSpec(fixture, { argv: ["true"], user: -1 });
      expect(sandbox.launch(root, () => {})).rejects.toBeInstanceOf(LaunchFailure);
    });

    test("with a way out the proxy answers, programs are told, and nothing else changes", async () => {
      const seen: string[] = [];
      const socket = fixture.egressSocket("commands");
      mkdirSync(join(socket, ".."), { recursive: true });
      const server = Bun.listen({
        unix: socket,
        socket: {
          data(client, data) {
            seen.push(data.toString());
            client.end("ANSWER\n");
          },
        },
      });
      chmodSync(socket, 0o666);
      const egress = { username: "svc", password: "p/w=1" };
      const ask =
        "if command -v bash >/dev/null; then bash -c 'exec 3<>/dev/tcp/127.0.0.1/8082 && echo hello >&3 && head -n 1 <&3'; else echo hello | nc 127.0.0.1 8082; fi";
      const exit = await run(
        script(`env | cut -d= -f1 | sort; echo "$HTTP_PROXY"; ls /run/svc/gateway 2>/dev/null; ${ask}; exit 5`, {
          egress,
        }),
      );
      server.stop(true);
      const lines = exit.stdout.trim().split("\n");
      expect(lines.slice(-2)).toEqual(["http://svc:p%2Fw%3D1@127.0.0.1:8082", "ANSWER"]);
      const names = lines.slice(0, -2).filter((line) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(line));
      expect(names).toEqual(
        ["HOME", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "PATH", "http_proxy", "https_proxy", "no_proxy"].sort(),
      );
      expect(seen).toEqual(["hello\n"]);
      expect(exit.exitCode).toBe(5);
      const cases = [
        [["no-such-program"], 127],
        [["/bin/sh", "-c", "kill -KILL $$"], 137],
      ] as const;
      for (const [argv, code] of cases) {
        expect((await run(commandSpec(fixture, { argv }, { egress }))).exitCode).toBe(code);
      }
      const slow = script("trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.05; done", { egress });
      await sandbox.launch(slow, () => {});
      await untilOutput(sandbox, slow.instanceId);
      await sandbox.terminate(slow.instanceId, 5_000);
      expect(await run(slow)).toMatchObject({ reason: "terminated", exitCode: 9, stdout: "up\nbye\n" });
    });

    test("a link that is left where it works does not lead out of the sandbox", async () => {
      const spec = commandSpec(fixture, { argv: ["cat", "/workspace/out/secret"] });
      const outside = fixture.volume();
      writeFileSync(join(outside, "secret"), "leak");
      Bun.spawnSync(["ln", "-s", outside, join(fixture.workspace(spec.executionId), "out")]);
      expect(await run(spec)).toMatchObject({ exitCode: 1, stdout: "" });
      expect(existsSync(join(outside, "secret"))).toBe(true);
    });
  });
}

const readlink = (link: string) => Bun.spawnSync(["readlink", link]).stdout.toString().trim();
