/**
 * The statement of a commit, composed of its parts. Commits with the same parts have the same text, so that PostgreSQL
 * prepares and plans it once for each connection.
 */
import type { Statement } from "../../port.ts";
import type { Part } from "./part.ts";
import { fence, type PartitionProgress } from "./progress.ts";

/** So many forms are prepared. Which parts come together varies little; the rare rest is planned each time. */
const preparedForms = 64;

/** Forms that begin with the same parts. */
interface Form {
  readonly next: Map<string, Form>;
  text: string | null;
}

export interface ComposedStatement extends Statement {
  readonly isPrepared: boolean;
}

const progressName = "moved";

export class CommitForms {
  private readonly root: Form = { next: new Map(), text: null };
  private count = 0;

  /** @param parts the progress of the partitions first */
  compose(parts: readonly Part[], partitions: readonly PartitionProgress[]): ComposedStatement {
    const all = [...parts, fence(progressName, partitions)];
    const parameters = all.flatMap((part) => part.parameters);
    const form = this.formOf(parts);
    if (form !== null && form.text !== null) return { text: form.text, parameters, isPrepared: true };
    const text = textOf(all);
    const isPrepared = form !== null && this.count < preparedForms;
    if (isPrepared) {
      form.text = text;
      this.count++;
    }
    return { text, parameters, isPrepared };
  }

  /** Null for a new form when there are enough. */
  private formOf(parts: readonly Part[]): Form | null {
    let form = this.root;
    for (const { text } of parts) {
      let next = form.next.get(text);
      if (next === undefined) {
        if (this.count >= preparedForms) return null;
        next = { next: new Map(), text: null };
        form.next.set(text, next);
      }
      form = next;
    }
    return form;
  }
}

/** The last part is the statement itself; parameters are numbered through. */
function textOf(parts: readonly Part[]): string {
  let first = 0;
  const numbered = parts.map(({ name, text, parameters }, index) => {
    const before = first;
    first += parameters.length;
    const own = text.replace(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
    return { name: index === 0 ? progressName : (name ?? `part_${index}`), own };
  });
  const last = numbered.pop();
  return `with ${numbered.map(({ name, own }) => `${name} as (${own})`).join(",\n")}\n${last?.own}`;
}
