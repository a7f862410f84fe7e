import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { LaunchFailure, type Sandbox } from "../../../../../src/adapters/sandbox/port.ts";
import {
  bubblewrapArguments,
  bubblewrapCommand,
  findBubblewrap,
  missingProtections,
} from "../../../../../src/adapters/sandbox/process/bubblewrap/bubblewrap.ts";
import { openTexts } from "../../../../../src/adapters/sandbox/process/bubblewrap/mount-sources.ts";
import { Layout } from "../../../../../src/adapters/sandbox/process/layout.ts";
import { processesWith } from "../../../../harness/processes.ts";
import { scratch } from "../../../../harness/scratch.ts";
import { until } from "../../../../harness/until.ts";
import { sandboxConformance } from "../../conformance.ts";
import { bubblewrapWorks, processFixture } from "../../fixture.ts";
import { runToEnd, specOf } from "../../instances.ts";
import { optionsConformance } from "../../options-conformance.ts";

const works = await bubblewrapWorks();
if (works) {
  sandboxConformance("process with bubblewrap", () => processFixture());
  optionsConformance("process with bubblewrap", () => processFixture());
  sandboxConformance("process with bubblewrap, without control groups", () => processFixture({ cgroups: false }));
}

describe.skipIf(!works)("bubblewrap holds", () => {
  let fixture: Awaited<ReturnType<typeof processFixture>>;
  let sandbox: Sandbox;
  const run = async (script: string) => (await runToEnd(sandbox, specOf(fixture, script))).exit;
  beforeAll(async () => {
    fixture = await processFixture();
    sandbox = fixture.sandbox;
  });
  afterAll(() => fixture.dispose());

  test("describes itself", () => {
    expect(sandbox.describe()).toMatchObject({ isolation: "process", sandbox: "bubblewrap", egressEnforced: true });
    expect(fixture.warnings).toEqual([]);
  });

  test("an unprivileged user without capabilities, who cannot gain any", async () => {
    const { stdout } = await run(
      "id -un; id -u; id -g; id -G; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | tr -d '\\t'",
    );
    expect(stdout.split("\n").slice(0, 9)).toEqual([
      ...["agent", "1000", "1000", "1000"],
      ...["Prm", "Eff", "Bnd", "Amb"].map((set) => `Cap${set}:${"0".repeat(16)}`),
      "NoNewPrivs:1",
    ]);
  });

  test("the host's files are hidden or read-only", async () => {
    await Bun.write(join(fixture.dataDir, "secret"), "s3cret");
    const hidden = [
      "/root",
      "/home",
      "/etc/shadow",
      "/etc/hostname",
      "/var",
      "/work",
      "/sys",
      fixture.dataDir,
      import.meta.dir,
    ];
    const { stdout } = await run(
      hidden.map((path) => `cat ${path} 2>/dev/null || ls ${path} >/dev/null 2>&1 && echo SEEN ${path}`).join("\n"),
    );
    expect(stdout).toBe("");
    const readOnly = [
      "/usr/x",
      "/x",
      "/etc/x",
      "/dev/x",
      "/run/x",
      "/run/svc/x",
      "/run/svc/gateway/x",
      "/proc/sys/kernel/hostname",
    ];
    const writes = await run(readOnly.map((path) => `(echo x > ${path}) 2>/dev/null && echo WROTE ${path}`).join("\n"));
    expect(writes.stdout).toBe("");
    expect((await run("echo x > /tmp/a && echo x > /workspace/b && echo x > /dev/shm/c && cat /tmp/a")).stdout).toBe(
      "x\n",
    );
  });

  test("another execution's workspace and the instance's own files are out of reach", async () => {
    const other = crypto.randomUUID();
    const path = fixture.workspace(other);
    await Bun.write(join(path, "theirs"), "private");
    const tries = [
      `cat ${path}/theirs`,
      `cat /workspace/../${other}/theirs`,
      `ln -s ${path}/theirs l; cat l`,
      "find / -name theirs",
      "find / -name launch.json",
    ];
    const { stdout } = await run(`${tries.map((line) => `(${line}) 2>/dev/null`).join("\n")}; true`);
    expect(stdout).toBe("");
  });

  test("no network: no loopback of the host, no abstract sockets, no outside address", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data() {}, open: (s) => void s.write("REACHED") },
    });
    const script = `
      exec 2>/dev/null
      cat /proc/net/dev | grep -c : ; cat /proc/net/route | wc -l
      for address in 127.0.0.1/${server.port} 10.0.0.1/80; do timeout 2 bash -c "cat < /dev/tcp/$address" && echo REACHED; done; true`;
    const { stdout } = await run(script);
    server.stop(true);
    expect(stdout).not.toContain("REACHED");
    expect(stdout.split("\n").slice(0, 2)).toEqual(["1", "1"]);
  });

  test("no metadata address and no port of the host at any address, by TCP or UDP", async () => {
    const server = Bun.listen({
      hostname: "0.0.0.0",
      port: 0,
      socket: { data() {}, open: (s) => void s.write("REACHED") },
    });
    const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    const targets = [...addresses.filter((address) => !address.includes(":")), "169.254.169.254", "192.0.2.1"];
    const tries = targets.flatMap((address) =>
      [server.port, 80].map((port) => `timeout 2 bash -c "cat < /dev/tcp/${address}/${port}" && echo REACHED`),
    );
    const udp = 'timeout 2 bash -c "echo x > /dev/udp/169.254.169.254/53" && echo SENT';
    const { stdout } = await run(`exec 2>/dev/null\n${[...tries, udp].join("\n")}\ntrue`);
    server.stop(true);
    // Loopback inside is the instance's own.
    expect(stdout).toBe("");
  });

  test("a link in the workspace leads to what is inside, not to the host's", async () => {
    const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()];
    await Bun.write(join(fixture.workspace(other), "theirs"), "private");
    const directory = fixture.workspace(mine);
    symlinkSync(fixture.workspace(other), join(directory, "absolute"));
    symlinkSync(`../${other}`, join(directory, "relative"));
    symlinkSync("/proc/1/root", join(directory, "root"));
    const look = "cat absolute/theirs relative/theirs root/etc/shadow /proc/*/root/etc/shadow 2>/dev/null; echo end";
    const { exit } = await runToEnd(sandbox, specOf(fixture, look, { executionId: mine }));
    expect(exit.stdout).toBe("end\n");
  });

  test("a link in the way to a volume, put there after it was looked at, is not followed", async () => {
    const [outer, outside] = [fixture.volume(), fixture.volume()];
    mkdirSync(join(outside, "sub"));
    await Bun.write(join(outside, "sub", "theirs"), "private");
    symlinkSync(outside, join(outer, "link"));
    const spec = specOf(fixture, "cat v/theirs; echo ran");
    const mount = { source: join(outer, "link", "sub"), target: "/workspace/v", readOnly: false };
    const { exit } = await runToEnd(sandbox, { ...spec, mounts: [...spec.mounts, mount] });
    expect(exit).toMatchObject({ reason: "lost", stdout: "" });
  });

  test("bootstrap_path mounts a plain program of the host, in development only", async () => {
    const folder = scratch("bootstrap");
    const place = async (name: string, mode: number) => {
      const path = join(folder, name);
      await Bun.write(path, "echo ran; cat /proc/self/mountinfo");
      chmodSync(path, mode);
      return path;
    };
    const program = await place("agent.sh", 0o644);
    symlinkSync(program, join(folder, "link.sh"));
    await Bun.write(join(fixture.dataDir, "volumes", "theirs.sh"), "echo private");
    const given = (bootstrapPath: string) => specOf(fixture, "", { bootstrapPath });
    const refused = [
      ...["/", "/etc", "/dev/null", "/proc/self/environ", "/sys/kernel/notes", "/run/svc/bun", `${program}/..`],
      ...[folder, join(folder, "link.sh"), await place("closed.sh", 0o640)],
      ...[fixture.dataDir, join(fixture.dataDir, "volumes"), join(fixture.dataDir, "volumes", "theirs.sh")],
    ];
    for (const path of refused) {
      expect(sandbox.launch(given(path), () => {})).rejects.toBeInstanceOf(LaunchFailure);
    }
    symlinkSync("loop", join(folder, "loop"));
    const odd = [`/${"x".repeat(4_000)}`, `${program}/below`, join(folder, "loop", "below"), `/${"d/".repeat(2_000)}p`];
    for (const path of odd) expect(["string", "object"]).toContain(typeof sandbox.programFault?.(path));
    const development = await processFixture({ program: undefined });
    expect(
      (await runToEnd(development.sandbox, specOf(development, "", { bootstrapPath: program }))).exit.stdout,
    ).toStartWith("ran\n");
    const shipped = specOf(development, "/nowhere", { bootstrapPath: "/bin/bash" });
    expect((await runToEnd(development.sandbox, shipped)).exit.exitCode).toBe(127);
    const production = await processFixture({ hostPrograms: false });
    for (const path of [program, "/usr/bin/true"]) {
      expect(production.sandbox.programFault?.(path)).toContain("is not allowed");
      expect(production.sandbox.launch(specOf(production, "", { bootstrapPath: path }), () => {})).rejects.toThrow(
        "bootstrap_path is not allowed",
      );
    }
    await Promise.all([development.dispose(), production.dispose()]);
  });

  test("a mount of more than one run's or one volume's directory is refused", async () => {
    const spec = specOf(fixture, "ls -R /workspace/v; echo ran");
    const own = ["", "volumes", "workspaces", "instances", "stores", "programs"].map((name) =>
      join(fixture.dataDir, name),
    );
    mkdirSync(join(fixture.dataDir, "stores"), { recursive: true });
    for (const source of ["/", "/etc", "/home", tmpdir(), ...own]) {
      const mount = { source, target: "/workspace/v", readOnly: true };
      const instanceId = crypto.randomUUID();
      const { exit } = await runToEnd(sandbox, { ...spec, instanceId, mounts: [...spec.mounts, mount] });
      expect({ source, reason: exit.reason, stdout: exit.stdout }).toEqual({ source, reason: "lost", stdout: "" });
    }
  });

  test.skipIf(process.getuid?.() !== 0)(
    "should one be mounted all the same, the agents' user has no way in",
    async () => {
      chmodSync(fixture.dataDir, 0o700);
      const layout = new Layout(fixture.dataDir);
      await Bun.write(join(layout.workspaces, "secret"), "s3cret");
      const bubblewrap = await findBubblewrap(layout);
      if (bubblewrap === null) throw new Error("bubblewrap does not work");
      const plain = { ...bubblewrap, mountsOpened: false };
      const tried = (source: string, below: string) => {
        const look = `ls /workspace${below}; cat /workspace${below}/secret; cat /workspace${below}/workspaces/secret`;
        const run = {
          ...{ limits: specOf(fixture, "").limits, readOnlyRoot: false, gateway: null, egress: null },
          ...{ mounts: [{ source, target: "/workspace", readOnly: true }], sharedMemory: true, files: {} },
          argv: ["/bin/sh", "-c", look],
        };
        const options = bubblewrapArguments(plain, layout, run);
        const files = openTexts(layout.etc, { start: "", options, filter: bubblewrap.filter }, 0);
        const { stdout, stderr } = Bun.spawnSync(bubblewrapCommand(plain, run), {
          stdio: ["ignore", "pipe", "pipe", ...files],
        });
        return { stdout: stdout.toString(), stderr: stderr.toString() };
      };
      const places: [string, string][] = [
        ["/", fixture.dataDir],
        [fixture.dataDir, ""],
        [layout.workspaces, ""],
        [layout.instances, ""],
      ];
      for (const [source, below] of places) {
        const { stdout, stderr } = tried(source, below);
        expect(stdout).toBe("");
        expect(stderr.match(/Permission denied/g)?.length).toBeGreaterThanOrEqual(2);
      }
    },
  );

  test("what /proc tells of the machine as a whole is hidden", async () => {
    const hidden = ["keys", "key-users", "kcore", "kallsyms", "interrupts", "timer_list", "kmsg", "scsi/scsi"];
    const { stdout } = await run(
      `${hidden.map((name) => `head -c 20 /proc/${name} 2>/dev/null`).join("; ")}; cat /proc/loadavg`,
    );
    expect(stdout).toMatch(/^[0-9.]+ [^\n]*\n$/);
  });

  test("a service that lies below /usr is hidden there", async () => {
    const own = await processFixture({ own: ["/usr/share", "/usr/bin/yes", "/usr/lib/nothing-here", "/usr"] });
    const look = "ls /usr/share; cat /usr/bin/yes; ls -d /usr/bin/env";
    const { exit } = await runToEnd(own.sandbox, specOf(own, look));
    expect(exit.stdout).toBe("/usr/bin/env\n");
    await own.dispose();
  });

  test("no process and no environment inside tells where the service lies", async () => {
    const program = join(scratch("bootstrap"), "agent.sh");
    await Bun.write(
      program,
      "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '",
    );
    chmodSync(program, 0o644);
    const spec = specOf(fixture, "", { bootstrapPath: program });
    const { stdout } = (await runToEnd(sandbox, spec)).exit;
    expect(stdout).toMatch(/^\S*bwrap --args 4 -- /);
    for (const place of [fixture.dataDir, process.execPath, import.meta.dir]) expect(stdout).not.toContain(place);
    const mounts = (await run("cat /proc/self/mountinfo")).stdout;
    expect(mounts).not.toContain(import.meta.dir);
    // Where a second name was possible.
    const isLinked = readdirSync(join(fixture.dataDir, "programs")).some((name) => name.startsWith("bun-"));
    if (isLinked) expect(mounts).not.toContain(process.execPath);
  });

  test.skipIf(process.arch !== "x64")(
    "the kernel refuses namespaces, mounts, keyrings, BPF and foreign sockets inside",
    async () => {
      const calls = [
        "import ctypes, errno, os, socket, threading, subprocess",
        "c = ctypes.CDLL(None, use_errno=True)",
        "def call(*a): return 'ok' if c.syscall(*a) >= 0 else errno.errorcode[ctypes.get_errno()]",
        // unshare, clone, clone3, mount, ptrace(PTRACE_TRACEME), keyctl, add_key, bpf, io_uring_setup, setns, memfd_secret
        "names = [call(272, 0x10000000), call(56, 0x10000011, 0, 0, 0, 0), call(435, 0, 0), call(165, 0, b'/tmp', b'tmpfs', 0, 0)]",
        "names += [call(101, 0), call(250, 0, 0), call(248, b'user', b'k', b'v', 1, -4), call(321, 0, 0, 0), call(425, 1, 0)]",
        "names += [call(308, 0, 0), call(447, 0)]",
        "def family(f):",
        "  try: socket.socket(f, socket.SOCK_STREAM if f != 38 else socket.SOCK_SEQPACKET).close(); return 'ok'",
        "  except OSError as e: return errno.errorcode[e.errno]",
        "names += [family(f) for f in (1, 2, 38, 40)]",
        "t = threading.Thread(target=lambda: names.append(subprocess.run(['echo', 'ran'], capture_output=True).stdout.decode().strip()))",
        "t.start(); t.join(); print(*names)",
      ].join("\n");
      const { stdout } = await run(
        `grep '^Seccomp:' /proc/self/status | tr -d '\\t'; unshare -U true 2>/dev/null || echo refused\npython3 -c "${calls}"`,
      );
      const [mode, userNamespace, names = ""] = stdout.split("\n");
      expect([mode, userNamespace]).toEqual(["Seccomp:2", "refused"]);
      const denied = [
        "EPERM",
        "EPERM",
        "ENOSYS",
        "EPERM",
        "EPERM",
        "EPERM",
        "EPERM",
        "EPERM",
        "ENOSYS",
        "EPERM",
        "EPERM",
      ];
      expect(names.split(" ")).toEqual([...denied, "ok", "ok", "EAFNOSUPPORT", "EAFNOSUPPORT", "ran"]);
      expect(sandbox.describe().unenforcedLimits).not.toContain("system_calls");
      expect(sandbox.describe().unenforcedLimits).not.toContain("user_namespaces");
    },
  );

  test("a host that takes no filter says so", () => {
    const taken = { filter: "/f", userNamespacesDisabled: true };
    expect(missingProtections(taken)).toEqual([]);
    expect(missingProtections({ ...taken, userNamespacesDisabled: false })).toEqual([]);
    expect(missingProtections({ ...taken, filter: null })).toEqual(["system_calls"]);
    expect(missingProtections({ filter: null, userNamespacesDisabled: false })).toEqual([
      "system_calls",
      "user_namespaces",
    ]);
  });

  test("no descriptor of the host's is open inside", async () => {
    const spec = specOf(fixture, "ls /proc/self/fd | tr '\\n' ' '");
    const mounts = [...spec.mounts, { source: fixture.volume(), target: "/workspace/v", readOnly: true }];
    // 3 is the directory that `ls` reads.
    expect((await runToEnd(sandbox, { ...spec, mounts })).exit.stdout).toBe("0 1 2 3 ");
  });

  test("a file can be mounted on a file", async () => {
    const volume = fixture.volume();
    await Bun.write(join(volume, "given"), "from-host");
    const spec = specOf(fixture, "cat d/one; (echo x > d/one) 2>/dev/null || echo refused");
    const mount = { source: join(volume, "given"), target: "/workspace/d/one", readOnly: true };
    const { exit } = await runToEnd(sandbox, { ...spec, mounts: [...spec.mounts, mount] });
    expect(exit.stdout).toBe("from-hostrefused\n");
  });

  test("sees no process but its own, and cannot signal the host's", async () => {
    const { stdout } = await run(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>/dev/null && echo SIGNALLED; true`,
    );
    expect(Number(stdout.split("\n")[0])).toBeLessThan(8);
    expect(stdout).not.toContain("SIGNALLED");
  });

  test("what an agent puts into its environment does not run outside", async () => {
    const executionId = crypto.randomUUID();
    const workspace = fixture.workspace(executionId);
    const ran = join(workspace, "ran-outside");
    await Bun.write(join(workspace, "hook.sh"), `id -u >> ${ran}\n`);
    const environment = {
      BASH_ENV: join(workspace, "hook.sh"),
      ENV: join(workspace, "hook.sh"),
      LD_PRELOAD: join(workspace, "evil.so"),
      IFS: "/",
    };
    const { exit } = await runToEnd(sandbox, specOf(fixture, "id -u", { executionId, environment }));
    expect(exit.stdout).toContain("1000");
    expect(await Bun.file(ran).exists()).toBe(false);
  });

  test("neither the token nor the prompt shows in the host's process list", async () => {
    const executionId = crypto.randomUUID();
    const spec = specOf(fixture, "while [ ! -e go ]; do sleep 0.05; done", {
      executionId,
      environment: { SVC_EXECUTION_TOKEN: "tok-5ecret" },
    });
    const end = runToEnd(sandbox, spec);
    await until(() => processesWith(spec.instanceId).length > 0, { what: "the supervisor" });
    expect(processesWith("tok-5ecret")).toEqual([]);
    await Bun.write(join(fixture.workspace(executionId), "go"), "");
    expect((await end).exit.exitCode).toBe(0);
  });
});
