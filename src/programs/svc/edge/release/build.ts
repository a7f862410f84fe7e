/**
 * Builds the edge program as one file for each system: `npm run build:edge`.
 *
 * For another system than this one Bun's own program of that system is needed: `--target` names it, and Bun loads it,
 * or `--executable` says where it is.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readEdgeKey } from "../../../../../actors/edge/base64.ts";
import { isVersion } from "../../../../../actors/edge/version.ts";
import { machineOf, systemOf } from "../../../../../actors/edge/words.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { programVersion } from "../version.ts";

const targets = ["linux-x64", "linux-x64-musl", "linux-arm64", "linux-arm64-musl", "darwin-x64", "darwin-arm64"];

export const verb = defineVerb({
  usage: "[--version VERSION] [--target TARGET]… [--release-key KID=KEY]…",
  flags: {
    ...jsonFlag,
    version: { kind: "text", value: "VERSION", meaning: "what the program says it is (default: the project's)" },
    target: { kind: "list", value: "TARGET", meaning: `${targets.join(", ")} (default: this system)` },
    executable: { kind: "text", value: "FILE", meaning: "Bun's program of the one target, instead of loading it" },
    "release-key": { kind: "list", value: "KID=KEY", meaning: "a public key that may sign updates; may be repeated" },
    out: { kind: "text", value: "DIR", meaning: "where the programs go (default dist)" },
  },
  positions: [0, 0],
  async run({ flags, output }) {
    const version = flags.version ?? programVersion;
    if (!isVersion(version)) throw usageFailure(`${version} is no version, as 1.2.0`);
    const keys = flags["release-key"].map(keyOf);
    const out = resolve(flags.out ?? "dist");
    mkdirSync(out, { recursive: true });
    const here = `${process.platform}-${process.arch}`;
    if (flags.executable !== null && flags.target.length !== 1) throw usageFailure("--executable needs one --target");
    for (const target of flags.target.length > 0 ? flags.target : [here]) {
      if (target !== here && !targets.includes(target)) throw usageFailure(`--target is one of ${targets.join(", ")}`);
      const file = join(out, fileName(target));
      await build({ version, keys, file, target: target === here ? null : target, executable: flags.executable });
      output.json({ file, version });
      output.line(`${file} is ${version}`);
    }
    return "ok";
  },
});

interface BuildOptions {
  readonly version: string;
  readonly keys: readonly { readonly kid: string; readonly public_key: string }[];
  readonly file: string;
  /** Null: this system. */
  readonly target: string | null;
  readonly executable: string | null;
}

async function build({ version, keys, file, target, executable }: BuildOptions): Promise<void> {
  const child = Bun.spawn(
    [
      ...[process.execPath, "build", "--compile", "--minify-whitespace", "--minify-syntax"],
      // Each verb is a part of its own, which is loaded when it is called.
      ...["--splitting", "--format=esm"],
      // What lies in the folder where it is started is none of its business.
      ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
      ...["--define", `SVC_EDGE_VERSION=${JSON.stringify(version)}`],
      ...["--define", `SVC_EDGE_RELEASE_KEYS=${JSON.stringify(JSON.stringify(keys))}`],
      ...(target === null ? [] : [`--target=bun-${target}`]),
      ...(executable === null ? [] : [`--compile-executable-path=${executable}`]),
      ...["--outfile", file, join(import.meta.dir, "../main.ts")],
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const said = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join("");
  if ((await child.exited) !== 0) throw new Failure("failed", `the build failed:\n${said.trim()}`);
}

/** @throws Failure `usage` */
function keyOf(text: string): BuildOptions["keys"][number] {
  const split = text.indexOf("=");
  const [kid, public_key] = [text.slice(0, Math.max(split, 0)), text.slice(split + 1)];
  if (kid === "" || readEdgeKey(public_key) === null) throw usageFailure(`--release-key must be KID=KEY, not ${text}`);
  return { kid, public_key };
}

function fileName(target: string): string {
  const [system = "", machine = "", ...more] = target.split("-");
  return ["svc-edge", systemOf(system) ?? system, machineOf(machine) ?? machine, ...more].join("-");
}
