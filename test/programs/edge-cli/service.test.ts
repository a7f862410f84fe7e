/** The service that starts the daemon: the texts of its units, and what is asked of the system (docs/reference/edge-cli.md). */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepare, stateAt } from "../../../src/programs/edge-daemon/state/directory.ts";
import { newKey, writeIdentity, writeKey } from "../../../src/programs/edge-daemon/state/identity.ts";
import { agentVariable, launchdAgent } from "../../../src/programs/svc/edge/unit/launchd.ts";
import { serviceFor } from "../../../src/programs/svc/edge/unit/service.ts";
import { unitName, unitSpec } from "../../../src/programs/svc/edge/unit/spec.ts";
import { systemdUnit } from "../../../src/programs/svc/edge/unit/systemd.ts";
import { scratch } from "../../harness/scratch.ts";
import { edge } from "./harness.ts";

const odd = "/srv/a b/$HOME%n\"'\\x";
const spec = unitSpec(stateAt(odd), null, ["/bin/sh", "edge"], {
  variables: { HTTPS_PROXY: "http://u:p%40@proxy:3128", SVC_USER_TOKEN: "secret-of-an-operator", NO_PROXY: "" },
});

test("a unit restarts the daemon but after the codes that mean it must not run", () => {
  const text = systemdUnit(spec);
  expect(text).toContain("\nRestart=always\n");
  expect(text).toContain("\nRestartPreventExitStatus=2 3 5\n");
  expect(text).toContain("\nKillMode=mixed\n");
  expect(text).toContain(String.raw`"daemon" "--state-dir" "/srv/a b/$$HOME%%n\"'\\x"`);
  expect(text).toContain('\nEnvironment="HTTPS_PROXY=http://u:p%%40@proxy:3128"\n');
  expect(text.includes("secret-of-an-operator")).toBe(false);
});

const verify = Bun.which("systemd-analyze");
test.skipIf(verify === null)("systemd takes the texts of both units", () => {
  const folder = scratch("units");
  const unit = join(folder, "svc-edge.service");
  writeFileSync(unit, systemdUnit(spec));
  const wide = readFileSync(join(import.meta.dir, "../../../deploy/svc-edge.service"), "utf8");
  const other = join(folder, "svc-edge-wide.service");
  // The program and the user are made by who installs it.
  writeFileSync(other, wide.replaceAll("/usr/local/bin/svc-edge", "/bin/sh").replace(/^User=.*$/m, "User=root"));
  for (const file of [unit, other]) {
    const done = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", file], { env: { ...process.env } });
    const said = `${done.stdout}${done.stderr}`.split("\n").filter((line) => line.includes("svc-edge"));
    expect([said, done.exitCode]).toEqual([[], 0]);
  }
});

test("the wide unit leaves /proc to bubblewrap, and its policy to root", () => {
  const wide = readFileSync(join(import.meta.dir, "../../../deploy/svc-edge.service"), "utf8");
  // Over covered parts of /proc the kernel mounts no other one.
  expect(wide).not.toMatch(/^(ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset|InaccessiblePaths)=/m);
  expect(wide).toMatch(/^ExecStart=.* --config \/etc\/svc-edge\.yaml$/m);
});

test("an agent of launchd holds the same command, and says how it is unloaded", () => {
  const text = launchdAgent({ ...spec, command: ["/opt/a&b", "<x>"] }, "/tmp/log");
  expect(text).toContain("<key>Label</key>\n  <string>dev.svc.");
  expect(text).toContain("<array><string>/opt/a&amp;b</string><string>&lt;x&gt;</string></array>");
  expect(text).toContain(`<key>${agentVariable}</key>`);
  expect(text).toContain("<key>KeepAlive</key>\n  <true/>");
});

test("each state directory has a service of its own; a line break is refused", () => {
  const home = process.env.HOME ?? "";
  expect(unitName(stateAt(join(home, ".svc/edge")))).toBe("svc-edge");
  expect(unitName(stateAt("/srv/a"))).toMatch(/^svc-edge-[0-9a-f]{8}$/);
  expect(unitName(stateAt("/srv/a"))).not.toBe(unitName(stateAt("/srv/b")));
  expect(() => unitSpec(stateAt("/srv/a\nb"), null, [], { variables: {} })).toThrow();
});

/** A machine whose `systemctl` and `loginctl` write down what they are asked, and fail when they are told to. */
function machine() {
  const folder = scratch("machine");
  const [bin, home, asked] = [join(folder, "bin"), join(folder, "home"), join(folder, "asked")];
  mkdirSync(bin);
  writeFileSync(asked, "");
  const script = `#!/bin/sh
echo "$(basename "$0") $*" >> ${asked}
[ -e ${folder}/broken ] && { echo "no bus" >&2; exit 1; }
case "$*" in *" show "*) printf 'MainPID=42\\nActiveState=active\\nSubState=running\\n';; esac
exit 0
`;
  for (const name of ["systemctl", "loginctl", "journalctl"]) writeFileSync(join(bin, name), script, { mode: 0o755 });
  const state = stateAt(join(folder, "state"));
  prepare(state);
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  const run = (...words: readonly string[]) => edge([...words, "--state-dir", state.path, "--json"], { env });
  const service = serviceFor(state, { variables: env }, "linux");
  return {
    ...{ state, run, service, env },
    asked: () => readFileSync(asked, "utf8").trimEnd().split("\n"),
    breakIt: () => writeFileSync(join(folder, "broken"), ""),
  };
}

const enrolled = (state: ReturnType<typeof stateAt>) => {
  writeKey(state, newKey());
  writeIdentity(state, {
    ...{ node_id: crypto.randomUUID(), tenant_id: "acme", name: "web-1", enrolled_at: "x" },
    ...{ connect_url: "ws://127.0.0.1:1/x", api_url: "http://127.0.0.1:1" },
    service_keys: [{ kid: "edge-1", public_key: newKey().publicKey }],
  });
};

test("the service is installed, kept, replaced, asked, restarted and removed", async () => {
  const { state, run, service, asked } = machine();
  expect((await run("service", "install")).code).toBe(4);
  expect((await run("service", "restart")).code).toBe(4);
  enrolled(state);
  const installed = await run("service", "install");
  expect([installed.code, installed.json.file]).toEqual([0, service.file]);
  expect(statSync(service.file).mode & 0o777).toBe(0o600);
  expect(readFileSync(service.file, "utf8")).toContain(`"--state-dir" "${state.path}"`);
  const unit = `${service.name}.service`;
  expect(asked()).toEqual([
    "systemctl --user daemon-reload",
    `systemctl --user enable ${unit}`,
    `systemctl --user restart ${unit}`,
    "loginctl enable-linger",
  ]);
  expect((await run("service", "install")).code).toBe(4);
  expect((await run("service", "install", "--keep-existing")).json.kept).toBe(true);
  expect((await run("service", "install", "--force")).code).toBe(0);
  expect((await run("service", "status")).json).toMatchObject({ running: true, pid: 42, state: "active (running)" });
  expect((await run("service", "restart")).code).toBe(0);
  expect((await run("service", "uninstall")).code).toBe(0);
  expect([existsSync(service.file), asked().includes(`systemctl --user disable --now ${unit}`)]).toEqual([false, true]);
  expect((await run("service", "uninstall")).code).toBe(0);
});

test.skipIf(process.getuid?.() !== 0)(
  "to root the machine's own unit is the service of its state directory",
  async () => {
    const { state, env, asked } = machine();
    const wide = scratch("wide");
    const file = join(wide, "svc-edge.service");
    writeFileSync(file, systemdUnit(unitSpec(state, null, ["/usr/local/bin/svc-edge"], { variables: {} })));
    const service = serviceFor(state, { variables: env }, "linux", wide);
    expect([service.file, service.isInstalled()]).toEqual([file, true]);
    await service.restart();
    expect(asked()).toEqual(["systemctl restart svc-edge.service"]);
    await expect(service.uninstall()).rejects.toMatchObject({ exit: "conflict" });
    expect(serviceFor(stateAt(`${state.path}2`), { variables: env }, "linux", wide).file).not.toBe(file);
  },
);

test("where the system fails, its words are told, and 5 is the code", async () => {
  const { state, run, breakIt, service } = machine();
  enrolled(state);
  breakIt();
  const failed = await run("service", "install");
  expect([failed.code, failed.err]).toEqual([5, expect.stringContaining("no bus")]);
  expect((await run("service", "status")).code).toBe(5);
  const bare = await edge(["service", "install", "--force", "--state-dir", state.path], {
    env: { HOME: "/nowhere", PATH: "" },
  });
  expect(bare.code).toBeGreaterThan(3);
  expect(service.logs(7, true)).toEqual([
    "journalctl",
    "--user",
    "-u",
    `${service.name}.service`,
    "-n",
    "7",
    "-o",
    "cat",
    "--no-pager",
    "-f",
  ]);
});
