/**
 * Signs built programs and writes a folder that any HTTPS server can serve:
 *
 *   npm run -s edge-release -- publish --key release.key --version 1.2.0 --out DIR [--file linux/x86_64=PATH]…
 */
import { sign } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { maxProgramBytes, type Release } from "../../../../../actors/edge/release.ts";
import { releaseMessage } from "../../../../../actors/edge/signing.ts";
import { isVersion } from "../../../../../actors/edge/version.ts";
import { machineOf, systemOf } from "../../../../../actors/edge/words.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { machineClocks } from "../../../edge-daemon/clock.ts";
import { Failure, usageFailure } from "../command/exit.ts";
import { seconds } from "../command/values.ts";
import { defineVerb, jsonFlag } from "../command/verb.ts";
import { readSigningKey } from "./keygen.ts";

/** What `npm run build:edge` writes. */
const builtIn = "dist";
const builtName = /^svc-edge-(linux|macos)-(x86_64|aarch64)$/;

interface Built {
  readonly os: string;
  readonly arch: string;
  readonly path: string;
}

export const verb = defineVerb({
  usage: "--key FILE --version VERSION --out DIR [--file OS/ARCH=PATH]…",
  flags: {
    ...jsonFlag,
    key: { kind: "text", value: "FILE", meaning: "the private key, as keygen made it" },
    kid: { kind: "text", value: "NAME", meaning: "the key's name (default: from the key)" },
    version: { kind: "text", value: "VERSION", meaning: "of the programs, as they were built with" },
    out: { kind: "text", value: "DIR", meaning: "the folder; former programs in it stay" },
    file: { kind: "list", value: "OS/ARCH=PATH", meaning: "a program (default: all in dist/)" },
    expires: { kind: "text", value: "TIME", meaning: "how long hosts take the release (default 90d)" },
  },
  positions: [0, 0],
  async run({ flags, output }) {
    const { key: keyFile, version, out } = flags;
    if (keyFile === null || version === null || out === null)
      throw usageFailure("--key, --version and --out are needed");
    if (!isVersion(version)) throw usageFailure(`${version} is no version, as 1.2.0`);
    const life = seconds("expires", flags.expires, 60, 3650 * 86_400) ?? 90 * 86_400;
    const { key, kid, publicKey } = readSigningKey(keyFile, flags.kid);
    const programs = flags.file.length > 0 ? flags.file.map(named) : built();
    if (programs.length === 0) throw new Failure("conflict", `there is no program in ${builtIn}/: npm run build:edge`);
    mkdirSync(out, { recursive: true });
    const now = machineClocks.wall();
    const files = await Promise.all(programs.map((program) => place(program, version, out)));
    const release: Release = {
      version,
      published_at: new Date(now).toISOString(),
      expires_at: new Date(now + life * 1000).toISOString(),
      files,
    };
    const b = JSON.stringify(release);
    const signature = sign(null, Buffer.from(releaseMessage(sha256Hex(b))), key).toString("base64");
    // Last and at once: hosts that look now find the former release, or this one with all of its programs.
    const draft = join(out, ".release.json.draft");
    writeFileSync(draft, `${JSON.stringify({ b, kid, sig: signature })}\n`, { mode: 0o644 });
    renameSync(draft, join(out, "release.json"));
    output.json({ kid, public_key: publicKey, ...release });
    output.line(`${version} is in ${join(out, "release.json")}, signed by ${kid}, until ${release.expires_at}`);
    return "ok";
  },
});

/** @throws Failure `usage` */
function named(text: string): Built {
  const [, system = "", machine = "", path = ""] = /^([^/=]+)\/([^/=]+)=(.+)$/.exec(text) ?? [];
  const [os, arch] = [systemOf(system), machineOf(machine)];
  if (os === null || arch === null || !existsSync(path))
    throw usageFailure(`--file must be linux/x86_64=PATH or the like, with a path that is there, not ${text}`);
  return { os, arch, path };
}

const built = (): readonly Built[] =>
  (existsSync(builtIn) ? readdirSync(builtIn) : []).flatMap((name) => {
    const [, os, arch] = builtName.exec(name) ?? [];
    return os === undefined || arch === undefined ? [] : [{ os, arch, path: join(builtIn, name) }];
  });

/** Copies a program under a name of its own version. @throws Failure `conflict` for one that says it is another version */
async function place({ os, arch, path }: Built, version: string, out: string): Promise<Release["files"][number]> {
  const isOfThisMachine = os === systemOf(process.platform) && arch === machineOf(process.arch);
  const said = isOfThisMachine ? Bun.spawnSync([path, "--version"]).stdout.toString().trim() : version;
  if (said !== version)
    throw new Failure("conflict", `${path} says it is ${said || "nothing"}: build it with --version ${version}`);
  const bytes = await Bun.file(path).bytes();
  if (bytes.length === 0 || bytes.length > maxProgramBytes) throw new Failure("conflict", `${path} is no program`);
  const url = `svc-edge-${version}-${os}-${arch}`;
  const draft = join(out, `.${url}.draft`);
  copyFileSync(path, draft);
  renameSync(draft, join(out, url));
  return { os, arch, url, size: bytes.length, sha256: sha256Hex(bytes) };
}
