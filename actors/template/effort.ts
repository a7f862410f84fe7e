/** How much work one evaluation has done, so that it can be stopped: texts and values are read again and again. */
import type { Value } from "./helpers.ts";

/** Characters of a value that count as one step. */
const charactersPerStep = 100;

export class Effort {
  private steps = 0;
  /** Of lists and objects as JSON. */
  private readonly sizes = new WeakMap<object, number>();

  /** @param tooMuch called when more than `most` steps are spent; throws */
  constructor(
    private readonly most: number,
    private readonly tooMuch: () => never,
  ) {}

  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.most) this.tooMuch();
  }

  /** For looking through a whole value. */
  lookThrough(value: Value): void {
    this.spend(this.sizeOf(value) / charactersPerStep);
  }

  private sizeOf(value: Value): number {
    if (typeof value === "string") return value.length;
    if (value === null || typeof value !== "object") return 0;
    const known = this.sizes.get(value);
    if (known !== undefined) return known;
    const size = JSON.stringify(value).length;
    this.sizes.set(value, size);
    return size;
  }
}
