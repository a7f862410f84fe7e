/** What a node says when it is ready: where it is, and what to type next. */
import type { NodeModels } from "../adapters/models/port.ts";
import type { Config } from "./config.ts";
import type { Node } from "./node.ts";

/** Every alias beside the model that answers it first, one row for each model. */
function modelRows(models: NodeModels): string[][] {
  const warning = models.warning();
  if (warning !== null) return [["models", `NONE: ${warning}`]];
  const served = models.served();
  const byModel = Map.groupBy(served, ({ provider, model }) => `${model} at ${provider}`);
  const rows = [...byModel].map(([model, aliases]) => `${aliases.map(({ alias }) => alias).join(", ")} → ${model}`);
  // Where the operator did not configure it, why it is so.
  const isPlain = served.some(
    ({ alias, model, provider }) => models.describeDefault() === `${alias} → ${model} at ${provider}`,
  );
  return [...(isPlain ? [] : [models.describeDefault()]), ...rows].map((text, index) => [
    index === 0 ? "models" : "",
    text,
  ]);
}

export function banner(config: Config, { port, internalPort, models, sandboxes }: Node): string {
  const development = config.mode === "development";
  const url = `http://localhost:${port}`;
  const elsewhere = port === 8080 ? "" : `SVC_URL=${url} `;
  const rows = [
    ["console", `${url}/console`],
    ["API", `${url}/v1      docs ${url}/docs`],
    ["agents", `http://${config.internalHost}:${internalPort} (dispatch gateway)`],
    ...modelRows(models),
  ];
  const cure = config.sandbox === "none" ? "SVC_SANDBOX is `none`" : "bubblewrap (bwrap) is missing or cannot run";
  const kinds = sandboxes.kinds.map((kind) =>
    kind === "none" ? `NONE: agents can read and change what you can; ${cure}` : kind,
  );
  rows.push(["sandbox", kinds.join(", ")]);
  if (config.nodes > 1) rows.push(["nodes", `${config.nodes}, a process each`]);
  const lines = [`svc is ready (${config.mode})`, "", ...rows.map(([name = "", text]) => `  ${name.padEnd(9)}${text}`)];
  if (config.issuer !== null) lines.push("", `  Operators sign in at ${config.publicUrl}/realms/svc-system/account`);
  if (!development || config.issuer !== null) return lines.join("\n");
  return [
    ...lines,
    "",
    "  Run the sample agent and watch it:",
    `    ${elsewhere}npm run -s agent -- run src/features/agents/sample/hello-agent.yaml`,
    "",
    "  A development token, for curl:",
    `    ${elsewhere}npm run -s agent -- token`,
    "",
  ].join("\n");
}
