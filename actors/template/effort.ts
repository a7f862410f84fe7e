/** How much work evaluations have done, so that they can be stopped: texts and values are read again and again. */
import type { Value } from "./helpers.ts";

/** A template that is not understood, or that asks for too much. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** Of the failure that it is. */
  readonly code: "template_error" | "template_path_missing" = "template_error";
}

/** A template prints a path that does not exist, where that is not allowed. */
export class MissingPath extends TemplateError {
  override readonly code = "template_path_missing";
  constructor(path: string) {
    super(`The template prints ${path}, which does not exist`);
  }
}

/** Told of a path that a template prints and that does not exist. */
export type TellMissing = (path: string) => void;

/** Of one template; a step takes about 0.3 µs. */
const mostSteps = 200_000;

/** Characters that are read or written and count as one step. */
const charactersPerStep = 100;

export class Effort {
  private steps = 0;
  /** Of lists and objects as JSON. */
  private readonly sizes = new WeakMap<object, number>();

  constructor(private readonly most = mostSteps) {}

  /** Steps that were taken. */
  get used(): number {
    return this.steps;
  }

  /** @throws TemplateError when that is too much */
  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.most) throw new TemplateError("The template takes too long");
  }

  /** For writing a text. */
  write(text: string): void {
    this.spend(text.length / charactersPerStep);
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
