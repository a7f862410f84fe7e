/** What an edge host remembers: its link, the journal of its daemon, and the commands that it has not seen end. */
import { type Static, Type } from "@sinclair/typebox";
import { Milliseconds, Nullable, Text } from "../kernel/schema.ts";
import { CommandEnd } from "./command.ts";
import { Offer } from "./messages.ts";

const literals = <T extends string>(...words: readonly T[]) => Type.Union(words.map((word) => Type.Literal(word)));

export const HostStatus = literals("connected", "unhealthy", "disconnected", "revoked");
export type HostStatus = Static<typeof HostStatus>;

/** Why a host that is connected gets no new commands; see docs/reference/edge.md. */
export const NotAccepting = literals("daemon", "held", "cloned", "outdated");
export type NotAccepting = Static<typeof NotAccepting>;

/** A command that has not ended. Times are Unix milliseconds. */
export const HostCommand = Type.Object({
  ...Type.Omit(Offer, ["held"]).properties,
  status: literals("pending", "dispatched", "running"),
  /** The run was told that it could start, and has not answered. */
  asked: Type.Boolean(),
  /** Until when the daemon may start it; null: it was not sent. */
  not_after: Nullable(Milliseconds),
  started_at: Nullable(Milliseconds),
  /** Whether the daemon has spoken of it, in the last hello or since. */
  reported: Type.Boolean(),
  /** `at`: when the daemon was last told. */
  cancelled: Nullable(Type.Object({ reason: Text, at: Milliseconds })),
  /** Frames that were made for it. */
  delivery: Type.Integer(),
});
export type HostCommand = Static<typeof HostCommand>;

/**
 * One that has ended here while the daemon may still run it: it fills a slot until the daemon says otherwise, or has been
 * silent for long after it was told to cancel it.
 */
const Stray = Type.Object({ command_id: Text, reported: Type.Boolean(), until: Milliseconds });

const Ended = Type.Object({ id: Text, tool: Text, status: CommandEnd, duration_ms: Nullable(Milliseconds) });

export const HostState = Type.Object({
  status: HostStatus,
  /** Of the last change of the status. */
  since: Milliseconds,
  /** Counts links. */
  epoch: Type.Integer({ minimum: 0 }),
  /** The open link and the service node that holds it; null: none is open. */
  link: Nullable(Type.Object({ id: Text, node: Text, since: Milliseconds })),
  /** Ids of the links that it has had, the open one too; the last ones. */
  links: Type.Array(Text),
  /** Since when no command can start; null: they can. */
  idle_since: Nullable(Milliseconds),
  /** What waits for the host waits a minute longer: the service is to blame for its absence. */
  longer: Type.Boolean(),
  boot_id: Nullable(Text),
  journal: Nullable(
    Type.Object({
      id: Text,
      /** As the last hello had it. */
      seq: Type.Integer(),
      /** Commands that the daemon first spoke of since. */
      reported: Type.Integer(),
    }),
  ),
  agent_version: Nullable(Text),
  slots: Type.Integer(),
  /** Sorted, each once. */
  not_accepting: Type.Array(NotAccepting),
  /** When one boot of the daemon took an open link from another, of the last minutes. */
  superseded: Type.Array(Type.Object({ at: Milliseconds, from: Text, to: Text })),
  /** In the order in which they came. */
  commands: Type.Array(HostCommand),
  strays: Type.Array(Stray),
  /** The last ones: one that is offered again is known by it. */
  ended: Type.Array(Ended),
  /** Ids that were to be withdrawn or cancelled before they were offered; the last ones. */
  stopped: Type.Array(Text),
  /** Frames made so far. */
  frames: Type.Integer(),
  /** When the timer is set for; null: none is. */
  due_at: Nullable(Milliseconds),
  revoked_at: Nullable(Milliseconds),
});
export type HostState = Static<typeof HostState>;

/** @param now Unix ms */
export const newHost = (now: number): HostState => ({
  status: "disconnected",
  since: now,
  epoch: 0,
  link: null,
  links: [],
  idle_since: now,
  longer: false,
  boot_id: null,
  journal: null,
  agent_version: null,
  slots: 1,
  not_accepting: [],
  superseded: [],
  commands: [],
  strays: [],
  ended: [],
  stopped: [],
  frames: 0,
  due_at: null,
  revoked_at: null,
});

export const isLinked = ({ status }: Pick<HostState, "status">): boolean =>
  status === "connected" || status === "unhealthy";

/** Whether new commands may be sent to it, slots apart. */
export const isEligible = ({ status, not_accepting }: Pick<HostState, "status" | "not_accepting">): boolean =>
  status === "connected" && not_accepting.length === 0;

/** With the daemon, as far as the service knows. */
export const isInFlight = ({ status }: Pick<HostCommand, "status">): boolean => status !== "pending";

export const inFlightOf = ({ commands }: Pick<HostState, "commands">): readonly HostCommand[] =>
  commands.filter(isInFlight);

/** Commands that could be sent now. @param now Unix ms */
export function freeSlots(state: HostState, now: number): number {
  if (!isEligible(state)) return 0;
  const held = state.strays.filter(({ until }) => until > now).length;
  return Math.max(0, state.slots - inFlightOf(state).length - held);
}
