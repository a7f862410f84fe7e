/**
 * Running a command inside an instance from its host: into the control groups and namespaces of the instance, then behind
 * the same filter of system calls and as the same user as its program. Bubblewrap does the last part, on a copy of the
 * instance's mounts, so that nothing that the agent could change is run with any privilege.
 */
import { closeSync, existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identify, processes, signal as signalOne } from "../../../lib/processes/process-table.ts";
import { socketFolder } from "../../../lib/sockets/tenant-sockets.ts";
import type { HandOrder } from "../../../programs/hand/main.ts";
import { type ExecResult, HandAnswer, type InsideCommand } from "../inside.ts";
import { instancePaths, sandboxEnvironment } from "../instance-environment.ts";
import { Stillness } from "../stillness.ts";
import { type Bubblewrap, bubblewrapCommand, trustedPath } from "./bubblewrap/bubblewrap.ts";
import { openTexts } from "./bubblewrap/mount-sources.ts";
import { livingProcesses } from "./cleanup/cleanup.ts";
import { enteredFolder } from "./entered.ts";
import { defaults } from "./launch/launch.ts";
import { supervisorScript } from "./launch/start-text.ts";
import type { LaunchPlan, Layout, ProgramFiles, SupervisorRecord } from "./layout.ts";

export interface HandPlace {
  readonly directory: string;
  readonly plan: LaunchPlan;
  readonly supervisor: SupervisorRecord;
  readonly layout: Layout;
  readonly programs: ProgramFiles;
  readonly bubblewrap: Bubblewrap | null;
}

/** @returns null where nothing leads into the instance */
export async function runInside(
  place: HandPlace,
  command: InsideCommand,
  signal: AbortSignal,
): Promise<ExecResult | null> {
  const { directory, plan, supervisor } = place;
  const way = wayInto(place);
  // A command that enters would stand still too. Where the instance is only held for a moment it waits with it.
  if (way === null || new Stillness(directory, null).isPaused()) return null;
  const order: HandOrder = orderOf(place, command);
  const files = plan.contained
    ? openTexts(directory, { start: "", options: optionsInside(place), filter: plan.filter }, 0)
    : [];
  const child = Bun.spawn(
    ["/bin/sh", "-c", supervisorScript(supervisor.cgroups, plan.limits, supervisor.cgroups.length > 0), "svc", ...way],
    {
      cwd: "/",
      env: { PATH: trustedPath, ...(plan.mark === null ? {} : markOf(plan.mark)) },
      stdio: [Buffer.from(JSON.stringify(order)), "pipe", "ignore", ...files],
      detached: true,
    },
  );
  for (const file of files) closeSync(file);
  // A change of the user takes from a process that it dies with its parent, so each is ended by itself.
  const kill = () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    for (const pid of livingProcesses({ root: child.pid, cgroups: [], mark: null })) signalOne(pid, "SIGKILL");
  };
  signal.addEventListener("abort", kill, { once: true });
  const name = join(directory, enteredFolder, String(child.pid));
  try {
    await mkdir(join(directory, enteredFolder), { recursive: true, mode: 0o700 });
    await writeFile(name, JSON.stringify(identify(child.pid)));
    const answer = new HandAnswer();
    for await (const piece of child.stdout) if (!answer.add(piece)) kill();
    await child.exited;
    signal.throwIfAborted();
    return answer.read();
  } finally {
    kill();
    signal.removeEventListener("abort", kill);
    await rm(name, { force: true }).catch(() => {});
  }
}

function markOf(mark: string): Record<string, string> {
  const at = mark.indexOf("=");
  return { [mark.slice(0, at)]: mark.slice(at + 1) };
}

function orderOf(
  { plan, layout }: HandPlace,
  { request, environment: given, tenant, egress }: InsideCommand,
): HandOrder {
  const workspace = plan.contained ? instancePaths.workspace : layout.workspace(plan.executionId);
  const { environment } = sandboxEnvironment(
    given,
    {
      workspace,
      gatewaySockets: plan.contained ? instancePaths.gateway : socketFolder(layout.gateway, tenant),
      egressSockets: egress === null ? null : instancePaths.egress,
      promptFile: null,
      startupFile: null,
      relay: plan.contained,
      egress,
    },
    defaults,
  );
  return { request, environment, workspace };
}

/** The command that enters the instance and runs the hand. */
function wayInto({ plan, supervisor, programs, bubblewrap }: HandPlace): readonly string[] | null {
  const flags = ["--no-env-file", "--config=/dev/null"];
  if (!plan.contained) return [programs.bun, ...flags, programs.hand];
  const enter = Bun.which("nsenter", { PATH: trustedPath });
  const first = firstInside(supervisor.pid);
  const isThere = plan.options?.includes(`\0${instancePaths.hand}\0`) ?? false;
  if (bubblewrap === null || enter === null || first === null || !isThere) return null;
  const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"];
  const user = bubblewrap.users === "mapped" ? ["--user", "--preserve-credentials"] : [];
  const argv = [join(instancePaths.programs, "bun"), ...flags, instancePaths.hand];
  return [enter, "--target", String(first), ...user, ...namespaces, "--", ...bubblewrapCommand(bubblewrap, { argv })];
}

/** Bubblewrap's options inside the instance's namespaces: the same view of everything, and no more privileges. */
function optionsInside({ plan, bubblewrap }: HandPlace): string {
  const capabilities =
    bubblewrap?.users === "mapped"
      ? []
      : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"];
  const args = [
    ...["--dev-bind", "/", "/", "--new-session", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"],
    ...capabilities,
    ...(plan.filter === null ? [] : ["--seccomp", "5"]),
    ...["--chdir", "/"],
  ];
  return args.map((arg) => `${arg}\0`).join("");
}

/** The process below a supervisor that is the first one of a process namespace; null where there is none yet, or any more. */
function firstInside(supervisor: number): number | null {
  const rows = processes();
  const below = (pid: number): number[] => rows.filter(({ parent }) => parent === pid).map(({ pid: child }) => child);
  const candidates = below(supervisor).flatMap(below);
  return candidates.find((pid) => existsSync(`/proc/${pid}`) && /^NSpid:.*\t1$/m.test(statusOf(pid))) ?? null;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}
