/** A value that must reach a vendor and nothing else: it prints, serialises and inspects as a placeholder. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where it is handed to the vendor. */
  reveal(): string {
    return this.#value;
  }

  /** `text` without the value, for messages that came from outside. */
  removeFrom(text: string): string {
    return this.#value.length < 4 ? text : text.replaceAll(this.#value, "[secret]");
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[secret]";
  }
}
