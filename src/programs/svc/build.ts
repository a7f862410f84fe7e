/**
 * Builds the command line as one file for this system, or for another: `npm run -s build:cli -- [--version V] [--target
 * linux-arm64] [--out FILE]`. Each word behind `svc` is a part of its own, which is loaded when it is called.
 */
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { programVersion } from "./version.ts";

const { values } = parseArgs({
  options: {
    version: { type: "string", default: programVersion },
    target: { type: "string" },
    out: { type: "string", default: "dist/svc" },
  },
});
const out = resolve(values.out);
mkdirSync(dirname(out), { recursive: true });
const child = Bun.spawn(
  [
    ...[
      process.execPath,
      "build",
      "--compile",
      "--minify-whitespace",
      "--minify-syntax",
      "--splitting",
      "--format=esm",
    ],
    // What lies in the folder where it is started is none of its business.
    ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
    ...["--define", `SVC_VERSION=${JSON.stringify(values.version)}`],
    ...(values.target === undefined ? [] : [`--target=bun-${values.target}`]),
    ...["--outfile", out, resolve(import.meta.dir, "main.ts")],
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
const code = await child.exited;
if (code === 0) console.log(`${out} is ${values.version}`);
process.exit(code);
