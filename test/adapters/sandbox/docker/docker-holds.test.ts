/** What containers hold: isolation, limits, and attacks on both. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { InstanceSpec, Sandbox } from "../../../../src/adapters/sandbox/port.ts";
import { podman } from "../../../harness/outside/podman.ts";
import { processesWith } from "../../../harness/processes.ts";
import { runToEnd, specOf, untilOutput } from "../instances.ts";
import { type DockerFixture, dockerFixture } from "./fixture.ts";

const engine = await podman();
const mebibyte = 1_024 * 1_024;
const limits = { cpuMillicores: 1_000, memoryBytes: 128 * mebibyte, diskBytes: 64 * mebibyte, processes: 64 };

describe.skipIf(engine === null)("containers hold", () => {
  let fixture: DockerFixture;
  let sandbox: Sandbox;
  const run = async (script: string, changes: Partial<InstanceSpec> = {}) =>
    (await runToEnd(sandbox, specOf(fixture, script, changes))).exit;
  beforeAll(async () => {
    if (engine === null) return;
    fixture = await dockerFixture(engine);
    sandbox = fixture.sandbox;
  });
  afterAll(() => fixture?.dispose());

  test("describes itself", () => {
    expect(sandbox.describe()).toEqual({
      isolation: "docker",
      sandbox: "container",
      egressEnforced: true,
      unenforcedLimits: [],
    });
    expect(fixture.warnings).toEqual([]);
  });

  test("an unprivileged user without capabilities, who cannot gain any", async () => {
    const { stdout } = await run(
      "id -u; id -g; id -G; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | tr -d '\\t'",
    );
    expect(stdout.split("\n").slice(0, 8)).toEqual([
      ...["1000", "1000", "1000"],
      ...["Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:${"0".repeat(16)}`),
      "NoNewPrivs:1",
    ]);
  });

  test("the first process shows nothing of itself, and neither does the engine", async () => {
    const spec = specOf(
      fixture,
      "cat /proc/1/environ /proc/1/fd/* /proc/1/mem 2>/dev/null && echo SEEN; echo up; sleep 30",
      {
        environment: { SVC_EXECUTION_TOKEN: "tok-5ecret" },
      },
    );
    await sandbox.launch(spec, () => {});
    expect(await untilOutput(sandbox, spec.instanceId)).toBe("up\n");
    expect(processesWith("tok-5ecret")).toEqual([]);
    const shown = Bun.spawnSync(["grep", "-rl", "tok-5ecret", fixture.docker.paths.instances]);
    expect(shown.stdout.toString()).toBe("");
    await sandbox.terminate(spec.instanceId, 0);
  });

  test("with a read-only root nothing but the workspace and a small /tmp can be written", async () => {
    const script = `
      for at in / /run /run/svc /run/svc/control /var/tmp /etc /scratch /usr/local/bin /run/svc/programs /run/svc/gateway; do
        (echo x > $at/svc-test) 2>/dev/null && echo WROTE $at
      done
      echo x > /tmp/a && echo x > /workspace/b && cat /tmp/a
      df -k /tmp | tail -1 | awk '{print $2}'; head -c 80000000 /dev/zero > /tmp/big || echo full`;
    const image = { reference: engine?.equipped ?? "", pullPolicy: "Never" } as const;
    const { stdout } = await run(script, { readOnlyRoot: true, image });
    expect(stdout).toBe("x\n65536\nfull\n");
    expect((await run("echo x > /etc/mine 2>/dev/null; id -u > /tmp/x; cat /tmp/x")).stdout).toBe("1000\n");
  });

  test("mounts keep to their access, one inside another", async () => {
    const [outer, inner] = [fixture.volume(), fixture.volume()];
    await Bun.write(join(inner, "given"), "inner");
    const base = specOf(fixture, "cat in/deep/given; (echo x > in/no) 2>/dev/null || echo held; echo y > in/deep/made");
    const spec: InstanceSpec = {
      ...base,
      mounts: [
        ...base.mounts,
        { source: outer, target: "/workspace/in", readOnly: true },
        { source: inner, target: "/workspace/in/deep", readOnly: false },
      ],
    };
    expect((await runToEnd(sandbox, spec)).exit.stdout).toBe("innerheld\n");
    expect(await Bun.file(join(inner, "made")).text()).toBe("y\n");
    const nowhere = {
      ...specOf(fixture, "true"),
      mounts: [{ source: "/nowhere", target: "/workspace", readOnly: false }],
    };
    expect(sandbox.launch(nowhere, () => {})).rejects.toMatchObject({ code: "volume_error" });
  });

  test("no network: no ports of the host, no metadata address, no other container", async () => {
    const server = Bun.listen({
      hostname: "0.0.0.0",
      port: 0,
      socket: { data() {}, open: (s) => void s.write("REACHED") },
    });
    const peer = specOf(fixture, "echo up; nc -l -p 4000 -e echo REACHED");
    await sandbox.launch(peer, () => {});
    await untilOutput(sandbox, peer.instanceId);
    const { stdout } = await run(`
      ls /sys/class/net | tr '\\n' ' '; cat /proc/net/route | wc -l
      for at in "127.0.0.1 ${server.port}" "169.254.169.254 80" "10.88.0.1 ${server.port}" "127.0.0.1 4000"; do
        nc -w 1 $at </dev/null 2>/dev/null
      done; true`);
    server.stop(true);
    expect(stdout).toBe("lo 1\n");
    await sandbox.terminate(peer.instanceId, 0);
  });

  test("another execution's workspace and the host are out of reach", async () => {
    const other = crypto.randomUUID();
    const path = fixture.workspace(other);
    await Bun.write(join(path, "theirs"), "private");
    const tries = [`cat ${path}/theirs`, `cat /workspace/../${other}/theirs`, `ln -s ${path}/theirs l; cat l`];
    const { stdout } = await run(
      `${tries.map((line) => `(${line}) 2>/dev/null`).join("\n")}; find / -name theirs 2>/dev/null; true`,
    );
    expect(stdout).toBe("");
  });

  test("sees no process but its own", async () => {
    const { stdout } = await run(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>/dev/null && echo SIGNALLED; true`,
    );
    expect(Number(stdout.split("\n")[0])).toBeLessThan(8);
    expect(stdout).not.toContain("SIGNALLED");
  });

  test("a fork bomb stays within its limit and is ended whole", async () => {
    const tag = `33${Math.floor(Math.random() * 1e6)}`;
    const bomb = `n=0; while [ $n -lt 300 ]; do sleep ${tag} & n=$((n+1)); done 2>/dev/null; echo survived`;
    const spec = specOf(fixture, `(${bomb}); echo over; while :; do :; done`, {
      limits: { ...limits, cpuMillicores: 300, processes: 40 },
    });
    await sandbox.launch(spec, () => {});
    expect(await untilOutput(sandbox, spec.instanceId)).toBe("over\n");
    expect(processesWith(`sleep ${tag}`).length).toBeGreaterThan(5);
    expect(processesWith(`sleep ${tag}`).length).toBeLessThanOrEqual(40);
    await sandbox.terminate(spec.instanceId, 100);
    expect(processesWith(`sleep ${tag}`)).toEqual([]);
    const { exit } = await runToEnd(sandbox, spec);
    expect(exit).toMatchObject({ reason: "terminated", stdout: "over\n" });
  });

  test("orphans do not pile up", async () => {
    const script = "for i in $(seq 100); do (sleep 0 &) ; done; sleep 1.2; ls /proc | grep -c '^[0-9]'";
    expect(Number((await run(script)).stdout)).toBeLessThan(8);
  });

  test("memory eaten by a child counts, though the program itself goes on", async () => {
    const script = "(x=$(head -c 400000000 /dev/zero | tr '\\0' x)) 2>/dev/null; echo went on; exit 0";
    // Room for the first process beside it: it is killed as well where that alone is near the limit.
    expect((await run(script, { limits })).reason).toBe("out_of_memory");
  });

  test("the writable layer counts as disk, and so does what is deleted but open", async () => {
    const small = { limits: { ...limits, diskBytes: 16 * mebibyte } };
    const image = { reference: engine?.equipped ?? "", pullPolicy: "Never" } as const;
    const layer = "for i in 1 2 3 4; do head -c 8000000 /dev/zero > /open/f$i; done; sleep 30";
    const deleted = 'for n in 3 4 5; do eval "exec $n> f$n"; rm f$n; head -c 8000000 /dev/zero >&$n; done; sleep 30';
    const exits = await Promise.all([run(layer, { ...small, image }), run(deleted, small)]);
    expect(exits.map(({ reason }) => reason)).toEqual(["disk_exceeded", "disk_exceeded"]);
  }, 30_000);

  test("1 GB on standard output fills nothing", async () => {
    const spec = specOf(fixture, "head -c 1000000000 /dev/zero; echo last", {
      limits: { ...limits, cpuMillicores: 4_000 },
    });
    const { exit, chunks } = await runToEnd(sandbox, spec);
    expect(exit).toMatchObject({ reason: "exited", exitCode: 0, stdoutTruncated: true });
    expect(exit.stdout.endsWith("\0last\n")).toBe(true);
    const last = chunks.at(-1);
    expect((last?.offset ?? 0) + (last?.bytes ?? 0)).toBe(1_000_000_005);
  }, 60_000);

  test("processor time is held to its share", async () => {
    const script = "(while :; do :; done) & sleep 2; read -r line < /proc/$!/stat; echo $line; kill $!";
    const { stdout } = await run(script, { limits: { ...limits, cpuMillicores: 200 } });
    // utime and stime, in hundredths of a second.
    const [user, system] = stdout.split(" ").slice(13, 15).map(Number);
    expect(Number(user) + Number(system)).toBeGreaterThan(10);
    expect(Number(user) + Number(system)).toBeLessThan(90);
  });

  test("commands have the image's environment and programs, under the execution's", async () => {
    const image = { reference: engine?.equipped ?? "", pullPolicy: "Never" } as const;
    const { stdout } = await run("host-env", { image, environment: { MINE: "1", FLAVOUR: "mine" } });
    expect(stdout).toContain("PATH=/opt/tools:/usr/bin:/bin\n");
    expect(stdout).toContain("FLAVOUR=mine\nHOME=/workspace\n".split("\n")[0] ?? "");
    expect(stdout).not.toContain("LD_LIBRARY_PATH");
  });
});
