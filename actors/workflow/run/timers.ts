/** Names of a run's timers. */
export const DEADLINE = "deadline";
export const stateTimer = (entry: number): string => `state:${entry}`;
