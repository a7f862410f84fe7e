/** Carries out a command line of `svc edge`. */
import { Unreachable } from "../../../client/errors.ts";
import type { Environment } from "../../edge/command/environment.ts";
import { Failure } from "../../edge/command/exit.ts";
import { runCommand } from "../../edge/command/run-command.ts";
import { verbs } from "../../edge/verbs.ts";
import { yamlWriter } from "../../output/output.ts";
import { usageFailure } from "../../process/exit.ts";
import type { Globals } from "../../process/globals.ts";
import { type Io, variable } from "../../process/io.ts";
import { programVersion } from "../../version.ts";

/** Options of the whole command line that have a value; the verbs of hosts know them not. */
const valued: Readonly<Record<string, "context" | "url" | "tenant" | "apiKey">> = {
  "--context": "context",
  "--url": "url",
  "--tenant": "tenant",
  "--api-key": "apiKey",
};

/**
 * Verbs of this machine's host: none of them takes the operator's sign-in. What `logout` revokes is the host's own service,
 * whose operator the environment names.
 */
const ofHost = new Set(["enroll", "daemon", "file-tool", "status", "logout", "service", "update", "help"]);

/** @param words all behind the program's name, `edge` among them @returns the exit code */
export async function runEdge(words: readonly string[], io: Io): Promise<number> {
  const { globals, own } = parted(words);
  const wantsYaml = globals.yaml || (!globals.json && variable(io, "SVC_OUTPUT") === "yaml");
  const environment = await environmentFor(own, globals, io);
  const program = { name: "svc edge", version: programVersion, verbs };
  const streams = { out: io.out, error: io.err };
  if (!wantsYaml) return runCommand(program, own, environment, streams);
  const variables = { ...environment.variables, SVC_OUTPUT: "json" };
  return runCommand(program, own, { ...environment, variables }, { ...streams, out: await asYaml(io.out) });
}

/** The verbs write JSON, one answer at a time: each becomes a document of YAML. */
async function asYaml(out: Io["out"]): Promise<Io["out"]> {
  const yamlOf = await yamlWriter();
  let count = 0;
  return (text) => {
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      return out(text);
    }
    count += 1;
    return out(`${count === 1 ? "" : "---\n"}${yamlOf(answer)}`);
  };
}

type Given = Partial<Record<"context" | "url" | "tenant" | "apiKey", string>>;

/** The options of the whole command line, and the words behind `edge` with the others before `--`. */
function parted(words: readonly string[]): { readonly globals: Globals; readonly own: readonly string[] } {
  const end = words.indexOf("--");
  const before = end === -1 ? words : words.slice(0, end);
  const [json, yaml] = [before.includes("--json"), before.includes("--yaml")];
  if (json && yaml) throw usageFailure("--json and --yaml do not go together");
  const given: Given = {};
  const left: string[] = [];
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? "";
    const [name = "", ...text] = word.split("=");
    const known = valued[name];
    if (known === undefined) left.push(word === "-y" ? "--yes" : word);
    else given[known] = word.includes("=") ? text.join("=") : textBehind(name, before[++at]);
  }
  const at = left.indexOf("edge");
  const own = [...left.slice(at + 1), ...left.slice(0, at)].filter((word) => !["--no-color", "--yaml"].includes(word));
  const { context = null, url = null, tenant = null, apiKey = null } = given;
  const allowPlaintext = before.includes("--allow-plaintext");
  const globals = { context, url, tenant, apiKey, allowPlaintext, json, yaml, color: true, yes: false };
  return { globals, own: [...own, ...(end === -1 ? [] : words.slice(end))] };
}

function textBehind(name: string, text: string | undefined): string {
  if (text === undefined) throw usageFailure(`${name} needs a value`);
  return text;
}

async function environmentFor([verb = "help"]: readonly string[], globals: Globals, io: Io): Promise<Environment> {
  const own: Environment = {
    variables: {
      ...io.env,
      ...(globals.url === null ? {} : { SVC_API_URL: globals.url }),
      ...(globals.apiKey === null ? {} : { SVC_USER_TOKEN: globals.apiKey }),
      ...(globals.tenant === null ? {} : { SVC_TENANT: globals.tenant }),
    },
    isInteractive: () => io.isInteractive,
    ask: io.ask,
    readInput: io.readInput,
    interruption: io.interruption,
  };
  const isGiven = (name: string) => variable({ env: own.variables }, name) !== null;
  if (ofHost.has(verb) || (isGiven("SVC_API_URL") && isGiven("SVC_USER_TOKEN"))) return own;
  const { connect } = await import("../../session/connection.ts");
  const { url, tenant, identity } = await connect(io, globals);
  // Words that lead nowhere are told first: why there is no token is told by the verb that needs one.
  let noToken: Failure | undefined;
  const token = await identity.token(null).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    noToken = new Failure("unavailable", messageOf(error), "unreachable");
    return null;
  });
  const variables = {
    ...own.variables,
    SVC_API_URL: url,
    ...(token === null ? {} : { SVC_USER_TOKEN: token }),
    ...(tenant === null ? {} : { SVC_TENANT: tenant }),
  };
  const renewToken = (refused: string) => identity.token(refused);
  return { ...own, variables, renewToken, ...(noToken === undefined ? {} : { noToken }) };
}

/** The client wraps what a request threw. */
const messageOf = ({ cause, message }: Unreachable): string => (cause instanceof Error ? cause.message : message);
