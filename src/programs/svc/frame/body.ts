/** What is sent beside what a person gave. */

/** Makes a POST that starts work safe to repeat. */
export const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** Without the members that are undefined. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
