/** What a batch of turns changed, and the parts of the commit that write it. */
import type { OutboxRow } from "../../effects/outbox.ts";
import type { Statement } from "../../port.ts";
import type { TimerPlace, TimerRow } from "../../timers/timer.ts";
import { type ActivityRow, abandonedActivities, activities, settledActivities } from "./activities.ts";
import { type ActorRow, actors, type EndedActor, endedActors } from "./actors.ts";
import { type DeadLetterRow, deadLetters } from "./dead-letters.ts";
import { largeTexts } from "./large-texts.ts";
import { type LogRow, logs } from "./logs.ts";
import { carriedOut, effects } from "./outbox.ts";
import { needs, type ParkedRow, parked, unparked } from "./parked.ts";
import type { Part } from "./part.ts";
import { type PartitionProgress, progress } from "./progress.ts";
import {
  type AheadRow,
  joined,
  type ReceivedRow,
  received,
  type TakenEffect,
  takenAhead,
  takenEffects,
  takenInbox,
} from "./received.ts";
import { endedTimers, timers } from "./timers.ts";

export interface Commit {
  readonly partitions: readonly PartitionProgress[];
  readonly actors: readonly ActorRow[];
  readonly ended: readonly EndedActor[];
  readonly logs: readonly LogRow[];
  /** JSON of the large texts of states and entries, by the numbers from one that stand in their places. */
  readonly largeTexts: readonly string[];
  readonly outbox: readonly OutboxRow[];
  readonly received: readonly ReceivedRow[];
  /** Messages taken before earlier ones of their source, and notes of such that are over. */
  readonly ahead: readonly AheadRow[];
  readonly behind: readonly AheadRow[];
  readonly taken: readonly TakenEffect[];
  /** Rows of the inbox, by id. */
  readonly takenInbox: readonly string[];
  readonly activities: readonly ActivityRow[];
  /** Activities whose outcome these turns took in. */
  readonly settled: readonly string[];
  readonly abandoned: readonly string[];
  readonly deadLetters: readonly DeadLetterRow[];
  readonly timers: readonly TimerRow[];
  /** Fired or cancelled. */
  readonly endedTimers: readonly TimerPlace[];
  readonly parked: readonly ParkedRow[];
  /** Places of messages that waited, and activities given up whose outcomes may wait. */
  readonly unparked: { readonly places: readonly string[]; readonly activities: readonly string[] };
  readonly projections: readonly Statement[];
}

/** Who commits. */
export interface Committer {
  readonly node: string;
  readonly host: string;
}

export interface CommitParts {
  /** Each a statement of its own, before all others; none but where an actor ends and begins again. */
  readonly ahead: readonly Part[];
  /** How far the partitions have come; the fence is judged by it. */
  readonly progress: Part;
  /** In one order for all commits: commits of two nodes that share rows must not wait for each other in a circle. */
  readonly others: readonly Part[];
}

export function partsOf(commit: Commit, { node, host }: Committer): CommitParts {
  const ended = endedActors(commit.ended);
  const apart = beginsAgain(commit);
  const hasLarge = commit.largeTexts.length > 0;
  const others = [
    largeTexts(commit.largeTexts),
    carriedOut(commit.partitions),
    received(commit.received),
    takenAhead(commit.ahead),
    joined(commit.behind),
    takenEffects(commit.taken),
    takenInbox(commit.takenInbox),
    ...(apart ? [] : ended),
    actors(commit.actors, hasLarge),
    logs(commit.logs, hasLarge),
    effects(commit.outbox),
    settledActivities(commit.settled),
    activities(commit.activities, node, host),
    abandonedActivities(commit.abandoned),
    deadLetters(commit.deadLetters),
    timers(commit.timers),
    endedTimers(commit.endedTimers),
    needs(commit.parked),
    parked(commit.parked),
    unparked(commit.unparked.places, commit.unparked.activities),
    ...commit.projections,
  ];
  return {
    ahead: apart ? ended : [],
    progress: progress(commit.partitions, node),
    others: others.filter((part) => part !== null),
  };
}

/** Whether an actor that ended is stored again: the parts of a statement may not change the same row. */
function beginsAgain({ ended, actors }: Pick<Commit, "ended" | "actors">): boolean {
  if (ended.length === 0) return false;
  const names = new Set(ended.map(({ kind, key }) => `${kind}/${key}`));
  return actors.some(({ kind, key }) => names.has(`${kind}/${key}`));
}
