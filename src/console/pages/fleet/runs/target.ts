/** What a run is for, in words. */
import type { Schemas } from "../../../../programs/client/client.ts";
import { type Selector, selectorWords } from "../groups/selector.ts";
import { counted } from "../words.ts";

/** One of these; none: every host. */
export type Target = Partial<{
  readonly Node: string;
  readonly Nodes: readonly string[];
  readonly Group: string;
  readonly Selector: Selector;
}>;

export type Run = Omit<Schemas["FleetRunDetail"], "target"> & { readonly target: Target };

export function targetWords({ Node: node, Nodes: nodes, Group: group, Selector: selector }: Target): string {
  if (node !== undefined) return "one host";
  if (nodes !== undefined) return counted(nodes.length, "host");
  if (group !== undefined) return "a group";
  return selector === undefined ? "every host" : selectorWords(selector);
}
