/** The addresses under which each page of the console is looked at. */
import type { Filled } from "./fill.ts";
import { longWorkflowName } from "./manifests.ts";

/** The id of the dead letter. */
export const letter = crypto.randomUUID();

/** One address of a page, and the heading that it has then. */
export type Visit = readonly [path: string, heading: string];

/** A session of signed calls, and one call. */
export interface Signed {
  readonly session: string;
  readonly call: string;
}

/** Which addresses stand for each path of the router. A page that is not here makes the first test fail. */
export const visits: Readonly<Record<string, (filled: Filled & Signed) => readonly Visit[]>> = {
  "/": () => [["/", "Home"]],
  "/agents": () => [["/agents", "Agents"]],
  "/agents/new": () => [["/agents/new", "New agent"]],
  "/agents/$id": ({ agent }) => [
    [`/agents/${agent}`, "releaser"],
    [`/agents/${agent}?tab=versions`, "releaser"],
    [`/agents/${agent}?tab=run`, "releaser"],
  ],
  "/executions": () => [["/executions", "Executions"]],
  "/executions/$id": ({ execution }) => [
    [`/executions/${execution.completed}`, "summarizer"],
    [`/executions/${execution.failed}`, "checker"],
    [`/executions/${execution.failed}?tab=conversation`, "checker"],
    [`/executions/${execution.running}`, "watcher-of-the-queue-of-tickets-in-europe"],
    [`/executions/${execution.waiting}`, "releaser"],
  ],
  "/workflows": () => [["/workflows", "Workflows"]],
  "/workflows/new": () => [["/workflows/new", "New workflow"]],
  "/workflows/$ref": ({ workflow }) => [[`/workflows/${workflow}`, longWorkflowName]],
  "/runs": () => [["/runs", "Runs"]],
  "/runs/$id": ({ run }) => [
    [`/runs/${run.failed}`, "nightly-import"],
    [`/runs/${run.waiting}`, longWorkflowName],
    [`/runs/${run.timer}`, "order-saga"],
    [`/runs/${run.mapped}`, "triage-map"],
  ],
  "/approvals": () => [["/approvals", "Approvals"]],
  "/approvals/$id": ({ approval }) => [[`/approvals/${approval}`, "Approvals"]],
  "/stimuli": () => [["/stimuli", "Stimuli"]],
  "/stimuli/$id": ({ stimulus }) => [[`/stimuli/${stimulus}`, "Stimulus of orders"]],
  "/sources": () => [["/sources", "Sources"]],
  "/sources/new": () => [["/sources/new", "New source"]],
  "/sources/$id": ({ source }) => [[`/sources/${source}`, "orders"]],
  "/tools": () => [
    ["/tools", "Tools"],
    ["/tools?tab=all", "Tools"],
    ["/tools?tab=calls", "Tools"],
  ],
  "/tools/new-server": () => [["/tools/new-server", "Add a server of tools"]],
  "/tools/servers/$name": () => [["/tools/servers/crm", "crm"]],
  "/tools/$name": () => [["/tools/svc.agent.get", "svc.agent.get"]],
  "/tools/calls/$id": ({ call }) => [[`/tools/calls/${call}`, "svc.agent.list"]],
  "/security-contexts": () => [["/security-contexts", "Security contexts"]],
  "/security-contexts/-/new": () => [["/security-contexts/-/new", "New security context"]],
  "/security-contexts/$name": () => [
    ["/security-contexts/careful", "careful"],
    ["/security-contexts/careful?tab=try", "careful"],
    ["/security-contexts/careful?tab=edit", "careful"],
  ],
  "/seal-sessions": () => [["/seal-sessions", "SEAL sessions"]],
  "/seal-sessions/$id": ({ session }) => [[`/seal-sessions/${session}`, `Session …${session.slice(-12)}`]],
  "/fleet": () => [
    ["/fleet", "Fleet"],
    ["/fleet?tab=runs", "Fleet"],
  ],
  "/fleet/hosts/$id": ({ host }) => [[`/fleet/hosts/${host}`, "web-eu-000"]],
  "/fleet/groups/$id": ({ group }) => [[`/fleet/groups/${group}`, "web servers"]],
  "/fleet/run": () => [["/fleet/run", "Run a command on hosts"]],
  "/fleet/runs/$id": ({ fleetRun }) => [[`/fleet/runs/${fleetRun}`, "cmd.run on 2 hosts"]],
  "/volumes": () => [["/volumes", "Volumes"]],
  "/volumes/$id": ({ volume }) => [[`/volumes/${volume}`, "reports"]],
  "/secrets": () => [["/secrets", "Secrets"]],
  "/credentials": () => [["/credentials", "Credentials"]],
  "/credentials/$id": ({ credential }) => [[`/credentials/${credential}`, "sales"]],
  "/api-keys": () => [["/api-keys", "API keys"]],
  "/team": () => [["/team", "Team"]],
  "/invitations": () => [["/invitations", "Invitation"]],
  "/billing": () => [["/billing", "Billing"]],
  "/limits": () => [
    ["/limits", "Limits and usage"],
    ["/limits?tab=usage", "Limits and usage"],
  ],
  "/audit": () => [["/audit", "Audit log"]],
  "/admin/tenants": () => [["/admin/tenants", "Tenants"]],
  "/admin/tenants/$slug": () => [["/admin/tenants/svc-system", "svc-system"]],
  "/admin/nodes": () => [["/admin/nodes", "Nodes"]],
  "/admin/dead-letters": () => [["/admin/dead-letters", "Dead letters"]],
  "/admin/dead-letters/$id": () => [[`/admin/dead-letters/${letter}`, "execution: unheard_of"]],
  "/admin/doctor": () => [["/admin/doctor", "Doctor"]],
  "/admin/incidents": () => [["/admin/incidents", "Incidents"]],
  "/admin/models": () => [["/admin/models", "Models"]],
  "/admin/limits": () => [["/admin/limits", "Overrides of limits"]],
};
