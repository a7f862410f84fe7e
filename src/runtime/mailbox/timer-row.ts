/** A timer as it is stored, and as it is asked for. */

export interface TimerRow {
  readonly partition: number;
  /** Unix ms by PostgreSQL's clock. */
  readonly due: number;
  /** A number of the partition's outbox: tells a timer from an earlier one of the same name. */
  readonly fence: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly timer: string;
  readonly type: string;
  /** JSON. */
  readonly body: string;
}

/** A timer that a turn sets. */
export interface TimerRequest {
  readonly timer: string;
  /** Unix ms; in the past: at once. */
  readonly at: number;
  readonly type: string;
  /** JSON. */
  readonly body: string;
}
