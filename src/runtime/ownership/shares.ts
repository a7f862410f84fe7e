/** Which partitions a node takes and gives up: a fair share, and those whose content it knows before all others. */
import { type Knowledge, knows, type Need } from "../versions/knowledge.ts";

export interface WillingNode {
  readonly id: string;
  readonly knowledge: Knowledge;
}

export interface Standing {
  readonly node: string;
  /** The nodes that take partitions, in one order for all of them. */
  readonly willing: readonly WillingNode[];
  /** The number of all partitions. */
  readonly partitions: number;
  readonly mine: readonly number[];
  readonly free: readonly number[];
  /** What the owner of a partition must know; those that any node may own are left out. Null: what no node here knows. */
  readonly needs: ReadonlyMap<number, readonly (Need | null)[]>;
}

export interface Moves {
  readonly take: readonly number[];
  readonly giveUp: readonly number[];
}

/**
 * A partition goes to the nodes that know what lies in it. Where none does, or all do, it goes to any; its unknown
 * messages wait. The bound partitions are spread over those that know them, the rest so that all have about as many.
 */
export function movesOf({ node, willing, partitions, mine, free, needs }: Standing): Moves {
  const index = willing.findIndex(({ id }) => id === node);
  if (index < 0) return { take: [], giveUp: [] };
  const able = new Map<number, readonly string[]>();
  for (const [partition, wanted] of needs) {
    const ids = willing.filter(({ knowledge }) => wanted.every((need) => need !== null && knows(knowledge, need)));
    if (ids.length > 0 && ids.length < willing.length)
      able.set(
        partition,
        ids.map(({ id }) => id),
      );
  }
  const isBound = (partition: number) => able.has(partition);
  const isAble = (partition: number) => able.get(partition)?.includes(node) !== false;
  // Those that the same nodes know are spread over these: none is left over because its only node has enough of others.
  const groups = new Map<string, { left: number }>();
  const groupOf = (partition: number) => able.get(partition)?.join() ?? "";
  const sizes = new Map<string, number>();
  for (const partition of able.keys()) sizes.set(groupOf(partition), (sizes.get(groupOf(partition)) ?? 0) + 1);
  for (const [partition, ids] of able) {
    const group = groupOf(partition);
    groups.set(group, { left: Math.ceil((sizes.get(group) ?? 0) / ids.length) });
  }
  const fits = (partition: number) => {
    const group = groups.get(groupOf(partition));
    if (group === undefined || group.left === 0) return false;
    group.left--;
    return true;
  };
  const boundMine = mine.filter((one) => isBound(one) && isAble(one));
  const boundKept = boundMine.filter(fits);
  const takeBound = free.filter((one) => isBound(one) && isAble(one) && fits(one));

  const share = Math.floor(partitions / willing.length) + (index < partitions % willing.length ? 1 : 0);
  const open = mine.filter((one) => !isBound(one));
  const room = Math.max(0, share - boundKept.length - takeBound.length);
  const freeOpen = free.filter((one) => !isBound(one));
  // Nodes that look at the same moment begin at different places, so that they do not all want the same ones.
  const start = Math.floor((index * freeOpen.length) / willing.length);
  const takeOpen = [...freeOpen.slice(start), ...freeOpen.slice(0, start)].slice(0, Math.max(0, room - open.length));
  return {
    take: [...takeBound, ...takeOpen],
    giveUp: [
      ...mine.filter((one) => !isAble(one)),
      ...boundMine.filter((one) => !boundKept.includes(one)),
      ...(willing.length > 1 ? open.slice(room) : []),
    ],
  };
}
