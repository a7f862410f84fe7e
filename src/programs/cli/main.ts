/**
 * The command line: deploys an agent, runs it, and follows its events through restarts of the service
 * meanwhile.
 *
 *   npm run -s agent -- run <manifest> [input]    deploy, start, follow to the end
 *   npm run -s agent -- follow <execution id>     follow to the end
 *   npm run -s agent -- token                     a development token
 *
 * SVC_URL (default http://localhost:8080) says where the service is. SVC_TOKEN is used when set; without it
 * the development issuer is asked.
 */
import { readFileSync } from "node:fs";
import { Client, Refused } from "./client.ts";
import { findings } from "./findings.ts";
import { follow } from "./follow.ts";

const usage = `usage:
  npm run -s agent -- run <manifest> [input]
  npm run -s agent -- follow <execution id>
  npm run -s agent -- token`;

async function main([command, subject, input = ""]: readonly string[]): Promise<number> {
  const client = new Client(process.env.SVC_URL ?? "http://localhost:8080", process.env.SVC_TOKEN ?? null);
  if (command === "token") {
    console.log(await client.token(3600));
    return 0;
  }
  if (command === "follow" && subject) return follow(client, subject, print);
  if (command !== "run" || !subject) {
    console.error(usage);
    return 2;
  }
  const agent = await deploy(client, textOf(subject));
  const key = crypto.randomUUID();
  // The version of the file, whichever is current.
  const started = await client.json("POST", "/v1/executions", { ...agent, input }, { "Idempotency-Key": key });
  warn(started.warnings);
  const executionId = String(started.execution_id);
  console.log(`execution ${executionId}`);
  return follow(client, executionId, print);
}

/** @throws Error that names the file and what is wrong with it */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a directory" : code;
    throw new Error(`${path} cannot be read: ${reason}`);
  }
}

interface Agent {
  readonly agent_id: string;
  readonly version: string;
}

/**
 * Stores the manifest unless it is there already. A manifest that was changed under its version becomes a new revision:
 * what runs is what the file says.
 */
async function deploy(client: Client, manifest: string): Promise<Agent> {
  const send = (query: string) => client.text("POST", `/v1/agents${query}`, manifest, "application/yaml");
  try {
    return told(await send(""));
  } catch (error) {
    if (!(error instanceof Refused) || error.body.code !== "agent_version_exists") throw error;
    const { agent_id, version } = error.body;
    const stored = await client.get(`/v1/agents/${agent_id}?version=${encodeURIComponent(String(version))}`);
    if (stored.manifest_yaml !== manifest) return told(await send("?force=true"));
    console.log(`${stored.name} ${version} is deployed already, unchanged`);
    return { agent_id: String(agent_id), version: String(version) };
  }
}

function told(deployed: Readonly<Record<string, unknown>>): Agent {
  const { name, version, revision, agent_id, warnings } = deployed;
  const again = revision === 1 ? "" : `, revision ${revision}: the manifest has changed`;
  console.log(`deployed ${name} ${version}${again}`);
  warn(warnings);
  return { agent_id: String(agent_id), version: String(version) };
}

/** @param warnings of an answer */
function warn(warnings: unknown): void {
  const lines = findings(warnings);
  if (lines.length > 0) console.error(["warnings:", ...lines].join("\n"));
}

/** One line per event: its name, and what is worth reading of it. */
function print(id: number, name: string, body: Readonly<Record<string, unknown>>): void {
  const { execution_id: _, agent_id: __, ...rest } = body;
  const told = Object.entries(rest)
    .filter(([member, value]) => value !== null && !member.endsWith("_at") && member !== "timestamp")
    .map(([member, value]) => `${member}=${shown(value)}`);
  console.log(`${String(id).padStart(4)}  ${name.padEnd(24)} ${told.join(" ")}`);
}

/** On one line, and not too long. */
function shown(value: unknown): string {
  const text = (typeof value === "string" ? value : JSON.stringify(value)).trim().replace(/\s+/g, " ");
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
