/** Hosts with scripted daemons, and runs over them. */
import { ScriptedDaemon } from "../../../harness/edge/scripted-daemon.ts";
import type { LooseJson } from "../../../harness/loose-json.ts";
import { until } from "../../../harness/until.ts";
import type { EdgeFixture, Headers } from "../fixture.ts";

/** A host that has enrolled, with a daemon that knows the service's keys. */
export async function daemonOf(at: EdgeFixture, headers: Headers, body: object = {}): Promise<ScriptedDaemon> {
  const host = await at.host(headers, body);
  const daemon = new ScriptedDaemon(at.node.url, host, at.address());
  const { keys } = (await (await fetch(`${at.node.url}/.well-known/jwks.json`)).json()) as LooseJson;
  for (const { kid, x } of keys)
    if (kid.startsWith("edge-")) daemon.serviceKeys.set(kid, Buffer.from(x, "base64url").toString("base64"));
  return daemon;
}

export const hostOf = async (at: EdgeFixture, headers: Headers, daemon: ScriptedDaemon): Promise<LooseJson> =>
  (await at.call("GET", `hosts/${daemon.host.id}`, headers)).body;

/** Begins a run over these hosts, all at once. @returns its id */
export async function invoke(
  at: EdgeFixture,
  headers: Headers,
  daemons: readonly ScriptedDaemon[],
  policy: object = {},
): Promise<string> {
  const answer = await at.call(
    "POST",
    "fleet/invoke",
    { ...headers, Accept: "application/json" },
    {
      target: { Nodes: daemons.map(({ host }) => host.id) },
      tool: "cmd.run",
      args: { command: "uptime" },
      policy: { mode: "Parallel", failure_policy: "ContinueOnError", ...policy },
    },
  );
  if (answer.status !== 202) throw new Error(`no run: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.fleet_command_id;
}

export const runOf = async (at: EdgeFixture, headers: Headers, id: string): Promise<LooseJson> =>
  (await at.call("GET", `fleet/runs/${id}`, headers)).body;

/** Waits for the end of a run. */
export const ended = (at: EdgeFixture, headers: Headers, id: string, timeoutMs = 10_000): Promise<LooseJson> =>
  until(
    async () => {
      const run = await runOf(at, headers, id);
      return ["complete", "halted", "cancelled"].includes(run.status) ? run : null;
    },
    { what: `the end of run ${id}`, timeoutMs },
  );
