/** `odd-tools.ts` over standard input and output; the mode is the first argument. */
import { createInterface } from "node:readline";
import { oddTools } from "./odd-tools.ts";

const mode = process.argv[2] ?? "";
if (mode === "crash:start") process.exit(2);
process.stderr.write(`begun ${process.env.ODD_TOKEN ?? ""}\n`);
const served = oddTools(
  mode,
  {
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    raw: (text) => void process.stdout.write(text),
    exit: (code) => process.exit(code),
  },
  process.env,
);
if (mode !== "hang:start")
  createInterface({ input: process.stdin }).on("line", (line) => served.take(JSON.parse(line)));
