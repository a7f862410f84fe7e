/** The machine's clock: a host has no other one before it is connected. Unix milliseconds. */
export const hostNow = (): number => Date.now();
