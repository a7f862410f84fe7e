/** Text that does not end up in a log, an error or an answer by accident. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself; call it where it leaves for its one purpose. */
  reveal(): string {
    return this.#value;
  }

  /** `text` without the secret, for messages that came from outside. */
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
