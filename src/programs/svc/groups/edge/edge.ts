/** `svc edge`: the verbs of hosts and fleets. Help and completions are made of their tables; they read their words themselves. */
import type { Command } from "commander";
import { Option } from "commander";
import type { VerbEntry } from "../../edge/command/run-command.ts";
import { verbs } from "../../edge/verbs.ts";
import { addGroup } from "../../frame/verb.ts";
import { lists } from "./lists.ts";

/** What the words before a verb are about. */
const summaries: Readonly<Record<string, string>> = {
  service: "Let the system start the daemon of this machine",
  keys: "Replace or end keys of hosts",
  token: "Make and end tokens that enroll hosts",
  tag: "Change the tags of hosts",
  host: "Hold, accept and revoke hosts",
  group: "Name groups of hosts",
  fleet: "Run tools and commands on hosts",
};

export async function edge(group: Command): Promise<void> {
  for (const entry of verbs) if (entry.isInternal !== true) await addEdgeVerb(group, entry);
}

async function addEdgeVerb(group: Command, { name, meaning, load }: VerbEntry): Promise<void> {
  const words = name.split(" ");
  const last = words.pop() ?? name;
  const parent = words.reduce(
    (at, word) => at.commands.find((one) => one.name() === word) ?? addGroup(at, word, summaries[word] ?? word),
    group,
  );
  const list = lists[name];
  if (list !== undefined) return list(parent);
  const { usage, flags } = await load();
  const command = parent.command(last).summary(meaning).description(meaning).usage(`${usage} [options]`.trim());
  for (const [flag, { kind, value = "VALUE", meaning: about }] of Object.entries(flags)) {
    if (flag === "json") continue;
    const taken = kind === "switch" ? "" : kind === "choice" ? `[=${value}]` : ` <${value}>`;
    const repeated = kind === "list" && !about.includes("repeated") ? "; may be repeated" : "";
    command.addOption(new Option(`--${flag}${taken.replace("[=", " [")}`, about + repeated));
  }
}
