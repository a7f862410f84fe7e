/** What features tell of their records, for those who follow all of a tenant. */
import type { ChangeType, Telling } from "../../../actors/change/change.ts";
import type { StimulusStatus } from "../../../actors/stimulus/statuses.ts";

export interface Changed {
  readonly type: ChangeType;
  readonly id: string;
  /** As the record's own routes show it. */
  readonly status: string;
  /** Grows with each change of the record; absent: this one is later than all that were told before. */
  readonly rev?: number;
  /** `always` when absent. */
  readonly telling?: Telling;
}

export interface Changes {
  /**
   * Says that a record changed; call it after the commit. It costs next to nothing where the tenant is not followed, and
   * never throws. A hint of the node: what is lost with it is made up for by a gap.
   */
  changed(tenant: string, change: Changed): void;
  /** The same of a record that all tenants see. */
  changedForAll(change: Changed): void;
  /** Whether a change of the tenant may be told to a follower: spares the work that a change would cost. */
  mayBeFollowed(tenant: string): boolean;
  /** Whether this node knows of a tenant that is followed. Asks Redis. */
  isAnyFollowed(): Promise<boolean>;
}

const stimulusStatuses: Readonly<Record<string, StimulusStatus>> = {
  stimulus_received: "received",
  stimulus_classified: "classified",
  stimulus_rejected: "rejected",
  stimulus_classification_failed: "classification_failed",
  stimulus_start_failed: "start_failed",
  stimulus_discarded: "discarded",
};

/** Hears the events that operators read of stimuli, each written after its commit. */
export const changesOfStimuli =
  (changes: Pick<Changes, "changed">) =>
  (event: string, { tenant, stimulus_id }: Readonly<Record<string, unknown>>): void => {
    const status = Object.hasOwn(stimulusStatuses, event) ? stimulusStatuses[event] : undefined;
    if (status === undefined || typeof tenant !== "string" || typeof stimulus_id !== "string") return;
    // Its processing may have been told of already, by another node.
    const telling = status === "received" ? "first" : "always";
    changes.changed(tenant, { type: "stimulus", id: stimulus_id, status, telling });
  };
