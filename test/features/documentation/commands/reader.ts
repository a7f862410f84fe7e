/** A reader of the pages: a folder like a fresh checkout, a service in one terminal, and a shell in another. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scripts } from "../../../../package.json";
import { freePorts } from "../../../harness/redis/server.ts";
import { scratch } from "../../../harness/scratch.ts";
import { until } from "../../../harness/until.ts";
import { type Block, startsService } from "./blocks.ts";

const root = join(import.meta.dir, "../../../..");

/** What a checkout has, without what a reader's own commands make. */
const checkedOut = ["actors", "deploy", "docker", "docs", "node_modules", "package-lock.json", "package.json", "src"];

/** Like a fresh checkout; its files are those of this one. */
export function checkout(name: string): string {
  const folder = scratch(name);
  for (const one of [...checkedOut, "docker-compose.yml", "Dockerfile", "tsconfig.json"])
    symlinkSync(join(root, one), join(folder, one));
  return folder;
}

/** Of a reader's environment, what a fresh machine has. */
function environment(folder: string, more: Readonly<Record<string, string>>): Record<string, string> {
  mkdirSync(join(folder, "home"), { recursive: true });
  const { PATH = "", TMPDIR = "/tmp" } = process.env;
  return { PATH, TMPDIR, HOME: join(folder, "home"), LANG: "C.UTF-8", NPM_CONFIG_UPDATE_NOTIFIER: "false", ...more };
}

/**
 * A folder with an `npm` that starts the command line at once, by the line of package.json, and hands all else on. Node and
 * npm in front of each of some two hundred commands would take most of the time.
 */
function quickNpm(folder: string): string {
  const bin = join(folder, "home/bin");
  const npm = Bun.which("npm") ?? "npm";
  mkdirSync(bin, { recursive: true });
  const start = `if [ "$1 $2 $3 $4" = "run -s svc --" ]; then shift 4; ${scripts.svc} "$@"; fi`;
  writeFileSync(join(bin, "npm"), `#!/bin/sh\n${start}\nexec '${npm}' "$@"\n`, { mode: 0o755 });
  return bin;
}

/** The service that the pages' first command starts, with stores of its own in its folder. */
export class Service {
  private constructor(
    readonly folder: string,
    readonly port: number,
    private readonly child: Bun.Subprocess,
  ) {}

  get url(): string {
    return `http://localhost:${this.port}`;
  }

  static async start(settings: Readonly<Record<string, string>>): Promise<Service> {
    const folder = checkout("docs-service");
    const [port = 0] = await freePorts(1);
    const child = Bun.spawn(["npm", "start"], {
      cwd: folder,
      env: environment(folder, { SVC_PORT: String(port), SVC_INTERNAL_PORT: "0", SVC_EGRESS_PORT: "0", ...settings }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      void (async () => {
        for await (const text of stream.pipeThrough(new TextDecoderStream())) said.push(text);
      })();
    const isReady = await until(
      () =>
        child.exitCode === null
          ? existsSync(join(folder, ".svc")) &&
            readdirSync(join(folder, ".svc")).some((name) => /^node-\d+\.json$/.test(name))
          : "ended",
      { timeoutMs: 50_000, what: "npm start to be ready" },
    );
    if (isReady === "ended") throw new Error(`npm start ended: ${said.join("")}`);
    return new Service(folder, port, child);
  }

  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.exited;
  }
}

export interface Outcome {
  /** The block that ended otherwise than it should; null when all went well. */
  readonly failed: Block | null;
  readonly said: string;
}

/**
 * Types the blocks of one page into one shell, in order. The address in them becomes the service's.
 * @param tenant in which the calls act, so that pages do not see what others do; null: the caller's own
 */
export async function read(blocks: readonly Block[], service: Service, tenant: string | null): Promise<Outcome> {
  const folder = checkout("docs-reader");
  mkdirSync(join(folder, "home"));
  const local = (text: string) => text.replaceAll("localhost:8080", `localhost:${service.port}`);
  const runs = blocks.filter((block) => block.notRun === null && !startsService(block));
  // The first pages that a reader meets have npm itself.
  const isFirst = blocks.some(({ page }) => page === "README.md");
  const script = [
    ...(isFirst ? [] : [`PATH=${quickNpm(folder)}:$PATH`]),
    // What the service refuses fails the block, as a reader would see it.
    `curl() { command curl --fail-with-body --max-time 30 ${tenant === null ? "" : `-H 'X-Svc-Tenant: ${tenant}' -H 'X-Tenant-Id: ${tenant}' `}"$@"; }`,
    // A reader types slowly, this machine may be busy.
    "sleep() { command sleep $(($1 * 2)); }",
    "set -eo pipefail",
    ...runs.flatMap((block, index) => [
      `printf '\\n::%s\\n' ${index} >&2`,
      ...(block.endsWith === 0
        ? [local(block.text)]
        : ["set +e", local(block.text), `[ $? = ${block.endsWith} ] || exit 99`, "set -e"]),
    ]),
    "printf '\\n::done\\n' >&2",
  ];
  const child = Bun.spawn(["bash", "-c", script.join("\n")], {
    cwd: folder,
    env: environment(folder, {
      SVC_API_URL: service.url,
      // Programs of operators find the stores of the service, as in the checkout that it was started in.
      SVC_DATA_DIR: join(service.folder, ".svc"),
      ...(tenant === null ? {} : { SVC_TENANT: tenant }),
    }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const texts = { out: "", err: "" };
  const reading = [[child.stdout, "out"] as const, [child.stderr, "err"] as const].map(async ([stream, name]) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) texts[name] += text;
  });
  const code = await child.exited;
  // Daemons that the page started end with its terminal.
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // There were none.
  }
  await Promise.race([Promise.all(reading), Bun.sleep(500)]);
  const last = [...texts.err.matchAll(/^::(\w+)$/gm)].at(-1)?.[1];
  const failed = code === 0 && last === "done" ? null : (runs[Number(last)] ?? runs[0] ?? null);
  return { failed, said: `exit ${code}\n${texts.err.slice(-9000)}\n--\n${texts.out.slice(-9000)}` };
}
