/** For who publishes the edge program: `npm run -s edge-release -- keygen|build|publish` (docs/guide/edge-hosts.md). */
import { runCommand, type VerbEntry } from "../command/run-command.ts";
import { programVersion } from "../version.ts";

const verbs: readonly VerbEntry[] = [
  { name: "keygen", meaning: "Makes a key that signs releases", load: async () => (await import("./keygen.ts")).verb },
  { name: "build", meaning: "Builds the program as one file", load: async () => (await import("./build.ts")).verb },
  {
    name: "publish",
    meaning: "Signs built programs and writes a folder to be served",
    load: async () => (await import("./publish.ts")).verb,
  },
];

const words = process.argv.slice(2);
// Publishing is what it is called for most.
const isPublish = words.length > 2 && words[0]?.startsWith("--") === true;

process.exitCode = await runCommand(
  { name: "npm run -s edge-release --", version: programVersion, verbs },
  isPublish ? ["publish", ...words] : words,
  {
    variables: process.env,
    isInteractive: () => false,
    ask: async () => null,
    readInput: async () => "",
    interruption: () => new AbortController().signal,
  },
  { out: (text) => void process.stdout.write(text), error: (text) => void process.stderr.write(text) },
);
