/** What the readers of one manifest's parts share. */
import type { State } from "../definition.ts";
import type { WorkflowOffer } from "./offer.ts";
import type { Templates } from "./templates.ts";

export interface Reading {
  readonly offer: WorkflowOffer;
  readonly templates: Templates;
  /** Names of all states, whether or not they could be read. */
  readonly states: ReadonlySet<string>;
  /** Names of the declared shared volumes. */
  readonly shared: ReadonlySet<string>;
}

/** What a kind of state has of its own, and its timeout. */
export type Of<S extends State> = Omit<S, "transitions" | "max_state_visits" | "outcome">;
