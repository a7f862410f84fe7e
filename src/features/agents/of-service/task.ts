/** What one of them is asked to do; all else is the same of all. */
export interface ServiceTask {
  readonly description: string;
  readonly instruction: string;
  /** Template of the prompt, with `instruction` and `input`. */
  readonly prompt: string;
}
