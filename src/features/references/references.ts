/** What definitions refer to, asked of those who know it. */
import { type Issue, Problem } from "../../../actors/kernel/problem.ts";
import type { PlacedReference, Reference } from "../../../actors/manifest/references.ts";
import type { ReferenceFault, ReferenceSource, ReferenceUse, ResolvedReference } from "./source.ts";

type Caller = Parameters<ReferenceSource["refused"]>[0];

/** References by `Reference.text`. */
type Answers<T> = ReadonlyMap<string, T>;

export interface References {
  /** Registers who knows a kind of reference; until then there are none of that kind. */
  from(source: ReferenceSource): void;
  /**
   * At deploy: whether the caller may have these in a definition of the tenant.
   * @throws Problem 422 `secret_forbidden` or `credential_forbidden` with `issues`
   */
  requireAllowed(caller: Caller, tenant: string, placed: readonly PlacedReference[]): Promise<void>;
  /**
   * At a start: whether all of them can be used.
   * @returns the refusal, 422 with `issues`; null when nothing is wrong
   */
  unusable(use: ReferenceUse, placed: readonly PlacedReference[]): Promise<Problem | null>;
  /**
   * What they mean now, for a use that is put on record before.
   * @throws Problem 422 as `unusable` has it, 503 where a store is away
   */
  take(use: ReferenceUse, placed: readonly PlacedReference[]): Promise<Answers<ResolvedReference>>;
  /** What they mean now, as far as they can be used, for those who hide it. Nothing is put on record. */
  look(use: ReferenceUse, placed: readonly PlacedReference[]): Promise<Answers<ResolvedReference>>;
}

export function createReferences(): References {
  const sources: ReferenceSource[] = [];

  /** By the sources that know them, all at once. */
  async function ask<T>(
    placed: readonly PlacedReference[],
    question: (source: ReferenceSource, references: readonly Reference[]) => Promise<Answers<T>>,
  ): Promise<Answers<T>> {
    const answers = await Promise.all(
      sources.map((source) => {
        const distinct = new Map(placed.map(({ reference }) => [reference.text, reference]));
        const own = [...distinct.values()].filter(({ kind }) => kind === source.kind);
        return own.length === 0 ? new Map<string, T>() : question(source, own);
      }),
    );
    return new Map(answers.flatMap((each) => [...each]));
  }

  const resolve = (use: ReferenceUse, placed: readonly PlacedReference[]) =>
    ask(placed, (source, references) => source.resolve(use, references));

  return {
    from: (source) => void sources.push(source),

    async requireAllowed(caller, tenant, placed) {
      if (placed.length === 0) return;
      const refused = await ask(placed, (source, references) => source.refused(caller, tenant, references));
      const problem = refusalOf(placed, (text) => refused.get(text) ?? null);
      if (problem !== null) throw problem;
    },

    async unusable(use, placed) {
      if (placed.length === 0) return null;
      const found = await resolve(use, placed);
      return refusalOf(placed, (text) => faultOf(found, text));
    },

    async take(use, placed) {
      const found = await resolve(use, placed);
      const problem = refusalOf(placed, (text) => faultOf(found, text));
      if (problem !== null) throw problem;
      await ask(placed, async (source, references) => {
        await source.used(use, references);
        return new Map<string, never>();
      });
      return usableOf(found);
    },

    look: async (use, placed) => usableOf(await resolve(use, placed)),
  };
}

function faultOf(found: Answers<ResolvedReference | ReferenceFault>, text: string): ReferenceFault | null {
  const one = found.get(text);
  // Of a kind that has no source there is nothing.
  if (one === undefined) return { code: kindCode(text), message: "there is none such" };
  return "value" in one ? null : one;
}

const kindCode = (text: string): ReferenceFault["code"] =>
  text.startsWith("secret:") ? "secret_not_found" : "credential_not_found";

function usableOf(found: Answers<ResolvedReference | ReferenceFault>): Answers<ResolvedReference> {
  return new Map([...found].flatMap(([text, one]) => ("value" in one ? [[text, one] as const] : [])));
}

/** The issues of all that have a fault, under the word of the first. */
function refusalOf(
  placed: readonly PlacedReference[],
  faultOf: (text: string) => ReferenceFault | null,
): Problem | null {
  const issues = placed.flatMap(({ path, reference }): (Issue & Pick<ReferenceFault, "code">)[] => {
    const fault = faultOf(reference.text);
    return fault === null ? [] : [{ path, ...fault, message: `${reference.text}: ${fault.message}` }];
  });
  const [first] = issues;
  if (first === undefined) return null;
  return new Problem(first.code, "What the definition refers to cannot be used", { issues }, {}, 422);
}
