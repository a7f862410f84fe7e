/** Everything an edge host can be told or asked, and what it answers. Its key is the host's id. */
import { type Static, Type } from "@sinclair/typebox";
import { Capabilities, frameLimits, ListedCommand, ResultStatus } from "../edge/frames.ts";
import { defineProtocol, message } from "../kernel/message.ts";
import { Milliseconds, Nothing, Nullable, Text } from "../kernel/schema.ts";
import { CommandResult } from "./command.ts";

/** Commands that a host holds; further ones wait in their runs. */
export const maxHeld = 1000;

/** A run hands a command over. Times are Unix milliseconds. */
export const Offer = Type.Object({
  command_id: Text,
  run_id: Text,
  idx: Type.Integer({ minimum: 0 }),
  attempt: Type.Integer({ minimum: 1 }),
  tool: Text,
  /** Waits for `go` in any case: that of a host that was not reachable when the run began. */
  held: Type.Boolean(),
  /** From its start. */
  timeout_ms: Milliseconds,
  max_output_bytes: Milliseconds,
  /** How long the host may be away before the command is given up. */
  grace_ms: Milliseconds,
  /** Until when it waits for a host that is not reachable; null: for `grace_ms`. */
  queue_until: Nullable(Milliseconds),
  /** When its turn came. */
  turn_at: Milliseconds,
});
export type Offer = Static<typeof Offer>;

export const OfferReply = Type.Object({
  /** `full`: the host holds as many as it may; the same again later. */
  outcome: Type.Union([Type.Literal("taken"), Type.Literal("full")]),
});
export type OfferReply = Static<typeof OfferReply>;

/** `waiting`: it cannot start now, and the run hears when it can. `ended`: the host has it no more. */
export const GoReply = Type.Object({
  outcome: Type.Union([Type.Literal("started"), Type.Literal("waiting"), Type.Literal("ended")]),
});
export type GoReply = Static<typeof GoReply>;

/** A daemon that has proved itself over a new link. */
export const HelloAsked = Type.Object({
  /** Names the link: the same again is the same hello. */
  link_id: Text,
  /** The service node that holds it. */
  node: Text,
  /** Nodes that are alive: a link of any other one is none any more. */
  live_nodes: Type.Array(Text),
  /** Nodes that were looked for by name once they were missed, and are not alive. */
  dead_nodes: Type.Array(Text),
  journal_id: Text,
  journal_seq: Type.Integer({ minimum: 0 }),
  boot_id: Text,
  agent_version: Text,
  /** Whether the version is below the least one that gets commands. */
  outdated: Type.Boolean(),
  slots: Type.Integer({ minimum: 1, maximum: frameLimits.maxSlots }),
  capabilities: Capabilities,
  commands: Type.Array(ListedCommand, { maxItems: frameLimits.maxListed }),
});
export type HelloAsked = Static<typeof HelloAsked>;

/** A command that is with the daemon, dispatched or running. */
const InFlight = Type.Object({ command_id: Text, run_id: Text, max_output_bytes: Milliseconds });

export const HelloReply = Type.Union([
  Type.Object({
    outcome: Type.Literal("welcome"),
    epoch: Type.Integer(),
    /** The node of the link that this one supersedes; null: none was open. */
    superseded: Nullable(Text),
    in_flight: Type.Array(InFlight),
    /** What the daemon said last of whether it takes commands. */
    accepting: Type.Boolean(),
    /** Its daemon is too old for new commands. */
    outdated: Type.Boolean(),
    /** Unfinished commands met a journal that does not know them. */
    journal_replaced: Type.Boolean(),
    /** Two daemons are found to share the state of one. */
    cloned: Type.Boolean(),
  }),
  Type.Object({ outcome: Type.Literal("revoked"), revoked_at: Milliseconds }),
  /** The link was the host's once, and is not any more. */
  Type.Object({ outcome: Type.Literal("superseded") }),
  /** The open link is one of a node that is not known to be alive or dead: the same again, once that is known. */
  Type.Object({ outcome: Type.Literal("unknown_node"), node: Text }),
]);
export type HelloReply = Static<typeof HelloReply>;

export const Report = Type.Union([
  Type.Object({ type: Type.Literal("started"), command_id: Text }),
  Type.Object({ type: Type.Literal("result"), command_id: Text, status: ResultStatus, result: CommandResult }),
  Type.Object({ type: Type.Literal("capabilities"), capabilities: Capabilities }),
]);
export type Report = Static<typeof Report>;

export const ReportReply = Type.Object({
  /** Whether the epoch of the reports is the host's still. */
  current: Type.Boolean(),
  /** Commands that are with the daemon still. */
  unfinished: Type.Integer(),
  /** Those of the reported results that were taken as the end of a command. */
  ended: Type.Array(Type.Object({ command_id: Text, run_id: Text, tool: Text })),
});
export type ReportReply = Static<typeof ReportReply>;

export const edgeHostProtocol = defineProtocol({
  kind: "edge-host",
  messages: {
    /** From the run. Repeatable: a known command is taken. */
    offer: message({ body: Offer, reply: OfferReply }),
    /** From the run: it wants a command that is ready to start. */
    go: message({ body: Type.Object({ command_id: Text }), reply: GoReply }),
    /** From the run: what was not sent ends as `not_started`. */
    withdraw: message({ body: Type.Object({ command_id: Text }) }),
    /** From the run: what was not sent ends as `not_started`, what was sent is cancelled at the daemon. */
    cancel: message({ body: Type.Object({ command_id: Text, reason: Text }) }),

    /** From the node with the link; a verified daemon. Repeatable. */
    hello: message({ body: HelloAsked, reply: HelloReply }),
    /** What the daemon said over the link, in its order. Results count whatever their epoch. Repeatable. */
    reports: message({ body: Type.Object({ epoch: Type.Integer(), reports: Type.Array(Report) }), reply: ReportReply }),
    /** What the link is like; what is null stays. Counts under the current epoch alone. */
    link_changed: message({
      body: Type.Object({
        epoch: Type.Integer(),
        healthy: Nullable(Type.Boolean()),
        accepting: Nullable(Type.Boolean()),
      }),
    }),
    /** The link has ended, or its node has. `longer`: what waits for the host waits a minute longer. */
    link_closed: message({ body: Type.Object({ epoch: Type.Integer(), longer: Type.Boolean() }) }),

    /** From people. Repeatable. */
    revoke: message({ body: Nothing, reply: Type.Object({ revoked_at: Milliseconds }) }),
    /** From people: `false` holds the host, `true` ends that, and the finding that it is cloned. Repeatable. */
    accept: message({ body: Type.Object({ accepting: Type.Boolean() }), reply: Nothing }),

    /** Timer: something is due. */
    due: message({ body: Nothing }),
    /** The tenant is erased. */
    erase: message({ body: Nothing }),
  },
});
export type EdgeHostMessages = typeof edgeHostProtocol.messages;
