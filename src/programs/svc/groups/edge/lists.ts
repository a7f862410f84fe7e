/** The lists of `svc edge`, which are lists like all others. What they hold besides is told by the program of hosts. */
import type { Command } from "commander";
import { answer } from "../../../client/client.ts";
import { given } from "../../frame/body.ts";
import { addList } from "../../frame/list.ts";
import { texts } from "../../frame/values.ts";
import { usageFailure } from "../../process/exit.ts";

/** The verb's words → what adds it to its group. */
export const lists: Readonly<Record<string, (group: Command) => void>> = {
  ls: addHosts,
  "token ls": addTokens,
  "group ls": addGroups,
  "fleet runs": addRuns,
};

function addHosts(edge: Command): void {
  addList(edge, {
    words: "ls",
    alias: "list",
    summary: "List hosts",
    options: {
      "--tag <tag...>": "only hosts with this tag",
      "--label <name=value...>": "only hosts with this label",
      "--connected [yes]": "only connected ones; --connected=false: only others",
      "--status <status>": {
        meaning: "only in this state",
        choices: ["connected", "unhealthy", "disconnected", "revoked"],
      },
      "--revoked": "revoked ones as well",
    },
    async page({ client }, query, { tag, label, connected, status, revoked }) {
      if (connected !== undefined && connected !== true && !/^(true|false)$/.test(connected))
        throw usageFailure(`--connected is true or false, not ${connected}`);
      texts("--label", label);
      const filters = given({
        tag: tag === undefined ? undefined : [...tag],
        label: label === undefined ? undefined : [...label],
        connected: connected === undefined ? undefined : connected !== "false",
        status: (["connected", "unhealthy", "disconnected", "revoked"] as const).find((one) => one === status),
        include_revoked: revoked,
      });
      return answer((await client()).GET("/v1/edge/hosts", { params: { query: { ...query, ...filters } } }));
    },
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "id", value: ({ node_id }) => node_id },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "accepts", value: ({ accepting, not_accepting }) => (accepting ? true : not_accepting) },
      { name: "system", value: ({ os, arch }) => (os ? `${os}/${arch ?? "?"}` : null) },
      { name: "version", value: ({ agent_version }) => agent_version },
      { name: "running", value: ({ running }) => running },
      { name: "tags", value: ({ tags }) => tags },
      { name: "seen", value: ({ last_seen_at }) => last_seen_at, kind: "time" },
    ],
    usual: 8,
    live: "host",
    empty: "There are no hosts. `svc edge token create` makes a token that enrolls one.",
    examples: [
      ["svc edge ls --tag web --connected", "Which hosts with a tag are there now"],
      ["svc edge ls --watch", "See them come and go"],
    ],
  });
}

function addTokens(tokens: Command): void {
  addList(tokens, {
    words: "ls",
    alias: "list",
    summary: "List tokens that enroll hosts, newest first, without their texts",
    options: {
      "--status <status>": {
        meaning: "only in this state",
        choices: ["outstanding", "redeemed", "expired", "revoked"],
      },
    },
    async page({ client }, query, { status }) {
      const chosen = (["outstanding", "redeemed", "expired", "revoked"] as const).find((one) => one === status);
      const filters = { ...query, ...given({ status: chosen }) };
      return answer((await client()).GET("/v1/edge/enrollment-tokens", { params: { query: filters } }));
    },
    columns: [
      { name: "id", value: ({ id }) => id },
      { name: "status", value: ({ status }) => status },
      { name: "name", value: ({ name }) => name },
      { name: "tags", value: ({ tags }) => tags },
      { name: "expires", value: ({ expires_at }) => expires_at, kind: "time" },
      { name: "issued by", value: ({ issued_by }) => issued_by },
      { name: "host", value: ({ node_id }) => node_id },
    ],
    empty: "There are no tokens. `svc edge token create` makes one.",
    examples: [["svc edge token ls --status outstanding", "Which may still be used"]],
  });
}

function addGroups(groups: Command): void {
  addList(groups, {
    words: "ls",
    alias: "list",
    summary: "List groups of hosts",
    page: async ({ client }, query) =>
      answer((await client()).GET("/v1/edge/groups", { params: { query: { ...query } } })),
    columns: [
      { name: "name", value: ({ name }) => name },
      { name: "id", value: ({ id }) => id },
      { name: "hosts", value: ({ resolved_member_count }) => resolved_member_count },
      { name: "pinned", value: ({ pinned_members }) => pinned_members.length },
      { name: "selector", value: ({ selector }) => selector },
    ],
    empty: "There are no groups. `svc edge group create` makes one.",
    examples: [["svc edge group ls", "Which groups there are"]],
  });
}

const outcomes = ["running", "complete", "halted", "cancelled"] as const;
const statuses = [
  "awaiting_approval",
  "running",
  "paused",
  "halting",
  "cancelling",
  "complete",
  "halted",
  "cancelled",
] as const;

function addRuns(fleet: Command): void {
  addList(fleet, {
    words: "runs [run]",
    summary: "List fleet runs, newest first, or show one",
    about: { run: "an id: that run with its hosts" },
    options: {
      "--tool <tool>": "only runs of this tool",
      "--outcome <outcome>": { meaning: "only with this outcome", choices: outcomes },
      "--status <status>": { meaning: "only in this state", choices: statuses },
      "--follow": "of one run: tell all of its events to its end",
      "--node-status <status>": "of one run: only hosts in this state",
    },
    async page({ client }, query, { tool, outcome, status, follow, nodeStatus }) {
      if (follow === true || nodeStatus !== undefined)
        throw usageFailure("--follow and --node-status need the id of a run");
      const filters = given({
        tool,
        outcome: outcomes.find((one) => one === outcome),
        status: statuses.find((one) => one === status),
      });
      return answer((await client()).GET("/v1/edge/fleet/runs", { params: { query: { ...query, ...filters } } }));
    },
    columns: [
      { name: "id", value: ({ fleet_command_id }) => fleet_command_id },
      { name: "tool", value: ({ tool }) => tool },
      { name: "status", value: ({ status }) => status, kind: "status" },
      { name: "reason", value: ({ reason }) => reason },
      { name: "begun", value: ({ created_at }) => created_at, kind: "time" },
      { name: "by", value: ({ requested_by }) => requested_by.sub },
      { name: "hosts", value: ({ summary }) => hostsOf(summary) },
    ],
    live: "fleet_run",
    empty: "There are no fleet runs. `svc edge fleet run TARGET -- COMMAND` starts one.",
    examples: [
      ["svc edge fleet runs --outcome halted", "Which ones halted"],
      ["svc edge fleet runs 0190a1b2-… --follow", "What happened in one, and what happens"],
    ],
  });
}

/** `3 ok, 1 err`. */
const hostsOf = (summary: Readonly<Record<string, number>>): string =>
  Object.entries(summary)
    .filter(([name, count]) => count > 0 && name !== "failed")
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
