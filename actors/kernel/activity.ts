/** Activities: slow or outside work that an actor asks for by `perform`. Implementations are in `src/`. */
import { type Static, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import { AnyJson, type Json } from "./json.ts";

/** The declaration of a piece of work: what goes in and what comes back. */
export interface ActivityDefinition<Input extends TSchema = TSchema, Output extends TSchema = TSchema> {
  readonly name: string;
  /** Raised with what goes in or comes back; absent: the first. A node leaves work of a later version to others. */
  readonly version?: number;
  /** Checked before the work is begun. */
  readonly input: Input;
  readonly output: Output;
}

export function defineActivity<Input extends TSchema, Output extends TSchema>(
  definition: ActivityDefinition<Input, Output>,
): ActivityDefinition<Input, Output> {
  return definition;
}

export type InputOf<A extends ActivityDefinition> = Static<A["input"]>;
export type OutputOf<A extends ActivityDefinition> = Static<A["output"]>;

/** What became of a piece of work. `code` is stable; `terminal` failures are not worth a repeat. */
export type Outcome<A extends ActivityDefinition = ActivityDefinition<TSchema, TUnsafe<Json>>> =
  | { id: string; ok: true; value: OutputOf<A> }
  | { id: string; ok: false; code: string; message: string; details?: Json };

/** The schema of an activity's outcome: the body of the message that takes it in. */
export function outcomeOf<A extends ActivityDefinition>({ output }: A): TUnsafe<Outcome<A>> {
  return Type.Unsafe<Outcome<A>>(
    Type.Union([
      Type.Object({ id: Type.String(), ok: Type.Literal(true), value: output }),
      Type.Object({
        id: Type.String(),
        ok: Type.Literal(false),
        code: Type.String(),
        message: Type.String(),
        details: Type.Optional(AnyJson),
      }),
    ]),
  );
}

const unknownEnds = new Set(["attempts_exhausted", "process_died"]);

/** Whether work that failed may have had its effect all the same: nothing refused it, its attempts got no answer. */
export const mayHaveHappened = ({ code }: { readonly code: string }): boolean => unknownEnds.has(code);
