/** A daemon has proved itself over a new link: what it lists and what its journal is decide about each command. */
import type { HelloAsked, HelloReply } from "./messages.ts";
import { type HostCommand, type HostState, inFlightOf, isInFlight, isLinked } from "./state.ts";
import type { HostTurn } from "./turn.ts";

/** Links that are remembered: a hello of one of them that comes again later takes nothing back. */
const rememberedLinks = 8;

type Welcome = Extract<HelloReply, { outcome: "welcome" }>;

/** So often may two boots take the link from each other within this time; then they are two daemons. */
const cloned = { times: 3, withinMs: 300_000 };

const cancelReason = "ended";

/**
 * The node of the open link, where it cannot be said whether it lives: a list of live nodes may be older than the node.
 * @returns null: that is known, or no link is open
 */
export function unknownNode({ link }: HostState, { live_nodes, dead_nodes }: HelloAsked): string | null {
  if (link === null || live_nodes.includes(link.node) || dead_nodes.includes(link.node)) return null;
  return link.node;
}

export function helloTaken(turn: HostTurn, hello: HelloAsked): Welcome {
  const { state } = turn;
  leaveDeadNode(turn, hello);
  const superseded = isLinked(state) ? (state.link?.node ?? null) : null;
  const isKnown = isSameJournal(state, hello);
  const isReplaced = !isKnown && inFlightOf(state).length > 0;
  const isCloned = superseded !== null && noteSupersession(turn, hello);

  state.epoch += 1;
  state.link = { id: hello.link_id, node: hello.node, since: turn.now };
  state.links = [...state.links, hello.link_id].slice(-rememberedLinks);
  state.longer = false;
  state.boot_id = hello.boot_id;
  state.journal = { id: hello.journal_id, seq: hello.journal_seq, reported: 0 };
  state.agent_version = hello.agent_version;
  state.slots = hello.slots;
  mark(turn, "outdated", hello.outdated);
  turn.become("connected");
  turn.describe(hello.capabilities);
  turn.voidFrames();
  reconcile(turn, hello, isKnown);
  return welcomeOf(state, superseded, isReplaced, isCloned);
}

export const welcomeOf = (
  state: HostState,
  superseded: string | null = null,
  journal_replaced = false,
  isCloned = false,
): Welcome => ({
  outcome: "welcome",
  epoch: state.epoch,
  superseded,
  accepting: !state.not_accepting.includes("daemon"),
  in_flight: inFlightOf(state).map(({ command_id, run_id, max_output_bytes }) => ({
    ...{ command_id, run_id, max_output_bytes },
  })),
  outdated: state.not_accepting.includes("outdated"),
  journal_replaced,
  cloned: isCloned,
});

/** A link of a node that is no more was not open any longer: the daemon may have been started anew since. */
function leaveDeadNode({ state }: HostTurn, { dead_nodes }: HelloAsked): void {
  if (state.link !== null && dead_nodes.includes(state.link.node)) {
    state.link = null;
    state.status = "disconnected";
  }
}

/** Whether what the daemon does not list it never began. */
function isSameJournal({ journal, boot_id, ...state }: HostState, hello: HelloAsked): boolean {
  if (journal === null || journal.id !== hello.journal_id) return false;
  if (hello.journal_seq < journal.seq + journal.reported) return false;
  return !isLinked(state) || boot_id === hello.boot_id;
}

/** @returns whether this shows, now, that two daemons share one state */
function noteSupersession(turn: HostTurn, { boot_id: to }: HelloAsked): boolean {
  const { state } = turn;
  const { boot_id: from } = state;
  if (from === null || from === to) return false;
  const recent = state.superseded.filter(({ at }) => at > turn.now - cloned.withinMs);
  state.superseded = [...recent, { at: turn.now, from, to }].slice(-16);
  const between = state.superseded.filter(
    (one) => (one.from === from && one.to === to) || (one.from === to && one.to === from),
  );
  if (between.length < cloned.times || state.not_accepting.includes("cloned")) return false;
  mark(turn, "cloned", true);
  return true;
}

function reconcile(turn: HostTurn, { commands }: HelloAsked, isKnown: boolean): void {
  const listed = new Map(commands.map(({ command_id, state }) => [command_id, state]));
  turn.state.strays = [];
  for (const command of turn.state.commands.filter(isInFlight)) {
    const found = listed.get(command.command_id);
    if (found === undefined) unlisted(turn, command, isKnown);
    else stillThere(turn, command, found);
  }
  const ours = new Set(turn.state.commands.map(({ command_id }) => command_id));
  for (const [commandId, found] of listed) {
    if (found !== "running" || ours.has(commandId)) continue;
    turn.stray(commandId, true);
    turn.cancelAtDaemon(commandId, cancelReason);
  }
}

function unlisted(turn: HostTurn, command: HostCommand, isKnown: boolean): void {
  const { status, cancelled } = command;
  if (status !== "dispatched" || !isKnown) turn.end(command, { status: "lost", error_kind: "journal_lost" });
  else if (cancelled === null) turn.takeBack(command);
  else turn.end(command, { status: "not_started", reason: cancelled.reason });
}

/** Its daemon runs it, or will say how it ended; a cancel that it may not have seen is sent again. */
function stillThere(turn: HostTurn, listed: HostCommand, found: "running" | "finished"): void {
  let command = turn.change(listed, { reported: true });
  if (found === "running" && command.status === "dispatched") command = turn.run(command);
  const { cancelled } = command;
  if (cancelled === null) return;
  if (found === "running") turn.cancel(command, cancelled.reason);
  else turn.change(command, { cancelled: { ...cancelled, at: turn.now } });
}

export function mark(
  { state }: Pick<HostTurn, "state">,
  reason: HostState["not_accepting"][number],
  holds: boolean,
): void {
  const others = state.not_accepting.filter((one) => one !== reason);
  state.not_accepting = holds ? [...others, reason].sort() : others;
}
