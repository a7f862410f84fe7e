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
