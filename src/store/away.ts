/** A store that is known to be away: nothing was sent to it. */
export class StoreAway extends Error {
  override readonly name = "StoreAway";
  constructor(
    readonly store: "PostgreSQL" | "Redis",
    readonly reason: string,
  ) {
    super(`${store} is away: ${reason}`);
  }
}
