/** The words behind `svc`, in the order of its help. What each is made of is loaded when it is called. */
import type { Command } from "commander";

export interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Heading of the help. */
  readonly section: string;
  /** Whether verbs stand behind it; otherwise it is one itself. */
  readonly isGroup: boolean;
  /** Adds the verbs to a group, or the verb to the program. */
  readonly load: () => Promise<(parent: Command) => void | Promise<void>>;
}

type Load = Entry["load"];
const group = (section: string, name: string, summary: string, load: Load): Entry => ({
  ...{ name, summary, section, load },
  isGroup: true,
});
const verb = (section: string, name: string, summary: string, load: Load): Entry => ({
  ...{ name, summary, section, load },
  isGroup: false,
});

const work = "Agents and workflows:";
const account = "Sign-in and settings:";

/** What people decide, what comes in from outside, what is allowed, and what operators look after. */
const looking: readonly Entry[] = [
  group(
    "Decisions and deliveries:",
    "approvals",
    "Decide what waits for a person",
    async () => (await import("./groups/approvals/approvals.ts")).approvals,
  ),
  group(
    "Decisions and deliveries:",
    "stimuli",
    "Send what starts workflows, and look after it",
    async () => (await import("./groups/stimuli/stimuli.ts")).stimuli,
  ),
  group(
    "Decisions and deliveries:",
    "sources",
    "Set up senders of webhooks",
    async () => (await import("./groups/sources/sources.ts")).sources,
  ),
  group(
    "Tools and secrets:",
    "tools",
    "Call tools, and look after their servers",
    async () => (await import("./groups/tools/tools.ts")).tools,
  ),
  group(
    "Tools and secrets:",
    "contexts",
    "Manage what tools may do",
    async () => (await import("./groups/access/contexts.ts")).contexts,
  ),
  group(
    "Tools and secrets:",
    "secrets",
    "Keep secrets",
    async () => (await import("./groups/access/secrets.ts")).secrets,
  ),
  group(
    "Tools and secrets:",
    "credentials",
    "Keep keys for other services",
    async () => (await import("./groups/access/credentials.ts")).credentials,
  ),
  group("Tools and secrets:", "keys", "Manage API keys", async () => (await import("./groups/access/keys.ts")).keys),
  group(
    "Tenants and operation:",
    "tenants",
    "Manage tenants",
    async () => (await import("./groups/tenancy/tenants.ts")).tenants,
  ),
  group(
    "Tenants and operation:",
    "members",
    "Manage who is in the tenant",
    async () => (await import("./groups/tenancy/members.ts")).members,
  ),
  group(
    "Tenants and operation:",
    "limits",
    "Look at rates and set them",
    async () => (await import("./groups/tenancy/limits.ts")).limits,
  ),
  group(
    "Tenants and operation:",
    "audit",
    "Read who changed what",
    async () => (await import("./groups/tenancy/audit.ts")).audit,
  ),
  group(
    "Tenants and operation:",
    "billing",
    "Look at plan and invoices",
    async () => (await import("./groups/tenancy/billing.ts")).billing,
  ),
  group(
    "Tenants and operation:",
    "dead-letters",
    "Look at messages that failed for good",
    async () => (await import("./groups/operations/dead-letters.ts")).deadLetters,
  ),
  group(
    "Tenants and operation:",
    "nodes",
    "Look at the nodes of the service",
    async () => (await import("./groups/operations/nodes.ts")).nodes,
  ),
  verb(
    "Tenants and operation:",
    "doctor",
    "Check what the service stands on, and say what to do",
    async () => (await import("./groups/operations/doctor.ts")).doctor,
  ),
  verb(
    "Tenants and operation:",
    "api",
    "Call any route of the service as yourself",
    async () => (await import("./groups/api.ts")).api,
  ),
];

export const entries: readonly Entry[] = [
  verb(work, "run", "Run an agent, or a manifest, and follow it", async () => (await import("./groups/run.ts")).run),
  group(work, "agents", "Deploy and manage agents", async () => (await import("./groups/agents/agents.ts")).agents),
  group(
    work,
    "executions",
    "Look at what agents did",
    async () => (await import("./groups/executions/executions.ts")).executions,
  ),
  group(
    work,
    "workflows",
    "Register and manage workflows",
    async () => (await import("./groups/workflows/workflows.ts")).workflows,
  ),
  group(work, "runs", "Run workflows and steer them", async () => (await import("./groups/runs/runs.ts")).runs),
  verb(
    "Tools:",
    "mcp",
    "Serve the tools of the service to a program",
    async () => (await import("./groups/mcp.ts")).mcp,
  ),
  group(
    "Hosts:",
    "edge",
    "Enroll hosts, and run commands on fleets of them",
    async () => (await import("./groups/edge/edge.ts")).edge,
  ),
  ...looking,
  verb(account, "login", "Sign in to a service", async () => (await import("./groups/account/login.ts")).login),
  verb(
    account,
    "logout",
    "Sign out and forget the tokens",
    async () => (await import("./groups/account/logout.ts")).logout,
  ),
  verb(
    account,
    "whoami",
    "Show who calls, where and in which tenant",
    async () => (await import("./groups/account/whoami.ts")).whoami,
  ),
  verb(
    account,
    "token",
    "Print the token that signs calls",
    async () => (await import("./groups/account/whoami.ts")).token,
  ),
  group(
    account,
    "context",
    "Choose among services and tenants",
    async () => (await import("./groups/account/context.ts")).context,
  ),
  verb(
    account,
    "completion",
    "Print completions for a shell",
    async () => (await import("./groups/completion.ts")).completion,
  ),
];
