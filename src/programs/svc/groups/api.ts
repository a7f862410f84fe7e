/** `svc api`: any route, as the caller. */
import type { Command } from "commander";
import { printed } from "../frame/printed.ts";
import { saved } from "../frame/saved.ts";
import { pair, textOrFile } from "../frame/values.ts";
import { addVerb } from "../frame/verb.ts";
import type { Output } from "../output/output.ts";
import { Failure, usageFailure } from "../process/exit.ts";
import type { Io } from "../process/io.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

export function api(program: Command): void {
  addVerb(program, {
    words: "api <method> <path>",
    summary: "Call any route of the service as yourself",
    about: { method: "GET, POST, PUT, PATCH or DELETE", path: "as /v1/agents?limit=5" },
    more: "Prints the body of the answer as it is; at a terminal JSON is indented, and text is shown without what would steer it.",
    options: {
      "-d, --data <body>": "the body; @FILE reads a file, - and @- read standard input",
      "-H, --header <name=value...>": "a header beside those of the caller",
      "-o, --output <file>": "write the answer to this file",
      "-g, --get <path>": "print this member of the answer alone, as items.0.id; a text without quotes",
    },
    examples: [
      ["svc api GET '/v1/executions?limit=1'", "Read a route"],
      ["svc api GET '/v1/executions?limit=1' --get items.0.id", "One value of it, for a script"],
      ['echo \'{"input":"Ada"}\' | svc api POST /v1/agents/0190a1b2-…/execute -d -', "A body from standard input"],
    ],
    async run({ out, client, io }, [word, path], { data, header, output, get }) {
      const method = word.toUpperCase();
      if (!methods.includes(method)) throw usageFailure(`${word} is no method: ${methods.join(", ")}`);
      if (!path.startsWith("/") || path.startsWith("//"))
        throw usageFailure(`${path} is no path of the service: it begins with one /`);
      const headers = new Headers((header ?? []).map((text) => [...pair("--header", text)] as [string, string]));
      const body = data === undefined ? null : await textOrFile(io, data === "-" ? "@-" : data);
      if (body !== null && !headers.has("content-type")) headers.set("Content-Type", "application/json");
      const response = await (await client()).send(path, { method, headers, body });
      if (output !== undefined) await saved(io, output, response.body);
      else if (get !== undefined) await member(response, get, out);
      else await shown(response, out, io);
    },
  });
}

/** What a terminal shows is made inert; a program gets the very bytes. */
async function shown(response: Response, out: Output, io: Io): Promise<void> {
  if (!(response.headers.get("content-type") ?? "").includes("json")) return printed(io, response.body);
  const text = await response.text();
  if (out.format === "yaml") return out.data(JSON.parse(text));
  const isLaidOut = io.isTerminal || out.format === "json";
  const body = isLaidOut ? JSON.stringify(JSON.parse(text), null, 2) : text;
  out.content(`${body}\n`);
}

/** @throws Failure `conflict` where the answer has no such member */
async function member(response: Response, path: string, out: Output): Promise<void> {
  let value: unknown = await response.json();
  for (const name of path.split("."))
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined;
  if (value === undefined) throw new Failure("conflict", `The answer has no ${path}`);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  out.content(`${text}\n`);
}
