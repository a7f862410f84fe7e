/** Every management tool: its names, what it needs, what it cannot do without (docs/reference/management-tools.md). */
import { describe, expect, test } from "bun:test";
import { mustBeWritten } from "../../../actors/kernel/schema.ts";
import { fleetTools } from "../../../src/features/edge/agent-calls/tools.ts";
import { collected, type ToolCaller } from "../../../src/features/management-tools/port.ts";
import { agentTools } from "../../../src/features/operation-tools/agent-tools.ts";
import { catalogueTools } from "../../../src/features/operation-tools/catalogue-tools.ts";
import { generateTool } from "../../../src/features/operation-tools/generate-tool.ts";
import { systemTools } from "../../../src/features/operation-tools/system-tools.ts";
import { taskTools } from "../../../src/features/operation-tools/task-tools.ts";
import { swarmTools } from "../../../src/features/swarms/tools.ts";
import { intentTools } from "../../../src/features/workflows/runs/tools/intent-tools.ts";
import { workflowTools } from "../../../src/features/workflows/runs/tools/tools.ts";
import { identityOf } from "../../harness/callers.ts";
import type { LooseJson } from "../../harness/loose-json.ts";

/** What a tool does before it is called: all that is looked at here. */
const none = {} as never;
const tools = collected([
  ...agentTools(none),
  generateTool(none),
  ...taskTools(none),
  ...workflowTools(none).tools,
  ...intentTools(none),
  ...swarmTools(none),
  ...catalogueTools(none),
  ...fleetTools(none),
  ...systemTools(none),
]);

/** Names, the scope (`operators`: the role), what must be given. */
const table: readonly (readonly [names: string, scope: string, required: string])[] = [
  ["agent.create", "agent:deploy", "manifest_yaml"],
  ["agent.update", "agent:deploy", "manifest_yaml"],
  ["agent.list", "agent:list", ""],
  ["agent.search", "agent:list", "query"],
  ["agent.export", "agent:read", "name"],
  ["agent.delete", "agent:delete", "agent_id"],
  ["agent.logs", "agent:logs", "agent_id"],
  ["agent.generate", "agent:generate", "input"],
  ["task.execute", "agent:execute", "agent_id"],
  ["task.list", "execution:list", ""],
  ["task.status", "execution:read", "execution_id"],
  ["task.logs", "execution:stream", "execution_id"],
  ["task.cancel", "execution:cancel", "execution_id"],
  ["task.remove", "execution:remove", "execution_id"],
  ["task.wait agent.wait", "execution:read", "execution_id"],
  ["workflow.run workflow.execute", "workflow:run", "name"],
  ["workflow.status workflow.executions.get", "workflow:read", "execution_id"],
  ["workflow.executions.list", "workflow:list", ""],
  ["workflow.logs", "workflow:read", "execution_id"],
  ["workflow.signal", "workflow:signal", "execution_id"],
  ["workflow.cancel", "workflow:cancel", "execution_id"],
  ["workflow.pause", "workflow:cancel", "execution_id"],
  ["workflow.resume", "workflow:cancel", "execution_id"],
  ["workflow.retry", "workflow:run", "execution_id"],
  ["workflow.remove", "workflow:cancel", "execution_id"],
  ["workflow.wait execute.wait", "workflow:read", "execution_id"],
  ["execute.intent", "workflow:run", "intent"],
  ["execute.status", "workflow:read", "pipeline_execution_id"],
  ["workflow.create", "workflow:deploy", "manifest_yaml"],
  ["workflow.update", "workflow:deploy", "manifest_yaml"],
  ["workflow.delete", "workflow:delete", "name"],
  ["workflow.validate", "workflow:validate", "manifest_yaml"],
  ["workflow.list", "workflow:list", ""],
  ["workflow.get", "workflow:read", "name"],
  ["workflow.export", "workflow:read", "name"],
  ["workflow.versions", "workflow:list", "name"],
  ["workflow.promote", "workflow:deploy", "name"],
  ["workflow.demote", "workflow:deploy", "name"],
  ["swarm.lock", "agent:execute", "resource_id"],
  ["swarm.unlock", "agent:execute", "resource_id"],
  ["swarm.send", "agent:execute", "to payload"],
  ["swarm.receive", "agent:execute", ""],
  ["schema.get", "agent:read", "key"],
  ["schema.validate", "agent:read", "kind manifest_yaml"],
  ["tools.list", "agent:read", ""],
  ["tools.search", "agent:read", "query"],
  ["runtime.list", "agent:read", ""],
  ["execution.file", "execution:read", "execution_id path"],
  ["edge.fleet.list", "aegis.edge.fleet.read", "target"],
  ["edge.fleet.invoke", "aegis.edge.fleet.manage", "target tool"],
  ["edge.fleet.cancel", "aegis.edge.fleet.manage", "fleet_command_id"],
  ["system.info", "operators", ""],
  ["system.config", "operators", ""],
];

const callerWith = (scopes: readonly string[]): ToolCaller => ({
  tenant: "acme",
  entry: "dispatch",
  identity: identityOf("acme", { kind: "tenant_user", role: null, scopes: new Set(scopes) }),
  executionId: null,
  ceilings: [],
  requestId: null,
  workId: crypto.randomUUID(),
  signal: new AbortController().signal,
});
const everyScope = [...new Set(table.map(([, scope]) => scope))];

test("the table has every tool that there is", () => {
  expect(tools.tools.map(({ name, aliases }) => [name, ...aliases].join(" ")).sort()).toEqual(
    table.map(([names]) => names.replaceAll(/(^| )/g, "$1svc.")).sort(),
  );
});

describe.each(table)("%s", (names, scope, required) => {
  const spelled = names.split(" ").flatMap((name) => [`svc.${name}`, `aegis.${name}`]);

  test("is one tool under every name, and says what it needs", () => {
    const [tool, ...others] = new Set(spelled.map((name) => tools.find(name)));
    expect(others).toEqual([]);
    expect(tool?.forOperators === true ? "operators" : tool?.scope).toBe(scope);
    const { arguments: schema } = tool ?? { arguments: { properties: {} } };
    const written = Object.keys(schema.properties).filter((member) => mustBeWritten(schema as never, member));
    expect(written.join(" ")).toBe(required);
  });

  test("takes no text that no store can hold", async () => {
    const [name = ""] = spelled;
    for (const member of ["anything", ...Object.keys(tools.find(name)?.arguments.properties ?? {})]) {
      for (const text of ["a\0b", "\ud800", ["\0"], { "\0": 1 }]) {
        const refused: LooseJson = await tools.call(name, callerWith(everyScope), { [member]: text });
        // Neither is what is of another kind mended by a default.
        if (scope === "operators") expect(refused.code).toBe("operator_required");
        else expect(refused.details.issues.map(({ path }: LooseJson) => path)).toContain(member);
      }
    }
  });

  test("is refused without the scope, for another tenant, without its arguments", async () => {
    const [name = ""] = spelled;
    const lacking = callerWith(everyScope.filter((one) => one !== scope));
    const code = scope === "operators" ? "operator_required" : "insufficient_scope";
    const claimed = { roles: ["admin"], scopes: ["*"], user_id: "root", role: "admin" };
    expect(await tools.call(name, lacking, claimed)).toMatchObject({ status: "failed", code });
    const full = callerWith(everyScope);
    expect(await tools.call(name, full, { tenant_id: "other" })).toMatchObject({ code: "tenant_mismatch" });
    if (required === "") return;
    const refused: LooseJson = await tools.call(name, full, { tenant_id: "acme", ...claimed });
    expect(refused).toMatchObject({ status: "failed", code: "invalid_arguments" });
    const paths = refused.details.issues.map(({ path }: LooseJson) => path);
    expect(new Set(paths)).toEqual(new Set(required.split(" ")));
  });
});
