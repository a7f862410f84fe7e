/** The kind of state that goes several ways at once. */
import { suggestion } from "../../../../kernel/nearest.ts";
import { object, variants } from "../../../../manifest/object.ts";
import { choice, list, Shape, text } from "../../../../manifest/shape.ts";
import type { BranchState } from "../../../definition/composed-states.ts";
import type { State, StateKind } from "../../../definition.ts";
import { type Of, type Reading, timeout } from "../../members.ts";
import { type Named, namesOf, stateName, statesOf } from "../by-name.ts";
import { everyState, stateOf } from "../every-state.ts";
import { plainKinds } from "../kinds.ts";

const maxBranches = 20;

/** As it is read: with the states of each branch, which have no Map and no Branch among them. */
interface ReadBranch {
  readonly name: string;
  readonly initial_state: string;
  readonly states: readonly Named<State>[];
}
export type ReadBranchState = Omit<BranchState, "branches"> & { readonly branches: readonly ReadBranch[] };

const common = { ...everyState, kind: choice(...(Object.keys(plainKinds) as StateKind[])).required() };
const inMap = variants("kind", common, plainKinds, (own, shared) => stateOf(own, shared) as State).named("InnerState");
const inList = variants("kind", { name: stateName, ...common }, plainKinds, (own, { name, ...shared }) =>
  name === null ? null : ([name, stateOf(own, shared) as State] as const),
).named("NamedInnerState");

const branch = object({
  name: text({
    min: 1,
    max: 64,
    pattern: /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$/,
    form: "letters, digits, _ and -, beginning with a letter or _",
  }).required(),
  states: statesOf<State>(inMap, inList),
  initial_state: text()
    .check((name, { states }: Reading) =>
      states.has(name) ? null : `names no state of the branch${suggestion(name, states)}`,
    )
    .required(),
})
  .strict("a branch")
  .build(({ name, states, initial_state }): ReadBranch | null =>
    name === null || initial_state === null ? null : { name, initial_state, states: states ?? [] },
  )
  .named("Branch");

/** Transitions of its states lead to each other only. */
const scoped = new Shape<ReadBranch | null, Reading>({
  ...branch.declared,
  read: (fields, key, reading) => {
    const states = namesOf(fields.section(key).raw("states"));
    return branch.declared.read(fields, key, { ...reading, states, isInBranch: true });
  },
});

/** `all`, `any`, or how many. */
const join = new Shape<number | "all" | "any" | null>({
  read: (fields, key) => {
    const written = fields.raw(key);
    if (written === null || written === "all" || written === "any") return written;
    const isCount = typeof written === "number" && Number.isInteger(written) && written >= 1;
    return isCount ? written : fields.issue(key, "must be all, any, or how many branches must succeed");
  },
  schema: () => ({ anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1 }] }),
  texts: null,
  expected: "must be all, any or a number",
});

export const branchState = object({
  timeout,
  branches: list(scoped, maxBranches, null, ({ name }, before, fields, position) => {
    if (before.some((other) => other.name === name)) fields.issue(`${position}.name`, "is the name of another branch");
  })
    .check((_branches, _scope, fields, key) => {
      const written = fields.raw(key);
      return Array.isArray(written) && written.length < 2 ? "must be 2 to 20 branches" : null;
    })
    .required(),
  join: join.or("all"),
})
  .strict("a Branch state")
  .build(
    ({ timeout, branches, join }, fields): Omit<Of<BranchState>, "branches"> & Pick<ReadBranchState, "branches"> => {
      const written = fields.raw("branches");
      const count = Array.isArray(written) ? written.length : maxBranches;
      if (typeof join === "number" && join > count) {
        fields.issue("join", `asks for more branches than the ${count} there are`, "join_unreachable");
      }
      const all = Math.max(1, count);
      return {
        kind: "Branch",
        timeout_ms: timeout,
        branches: branches ?? [],
        join: join === "all" ? all : join === "any" ? 1 : Math.min(join, maxBranches),
      };
    },
  );
