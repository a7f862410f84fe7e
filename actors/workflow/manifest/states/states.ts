/** `spec.states`: their names, what all kinds have in common, and the kind of each. */
import type { Json } from "../../../kernel/json.ts";
import { isObject } from "../../../kernel/json.ts";
import { variants } from "../../../manifest/object.ts";
import { choice, either, integer, list, Shape, text } from "../../../manifest/shape.ts";
import type { State, StateKind } from "../../definition.ts";
import { reservedKeys } from "../../run/blackboard/variables.ts";
import type { Of, Reading } from "../members.ts";
import { agentState, parallelAgentsState } from "./agents.ts";
import { containerRunState, parallelContainersState, systemState } from "./commands.ts";
import { humanState } from "./human.ts";
import { subworkflowState } from "./subworkflow.ts";
import { transitions } from "./transitions.ts";

const maxStates = 100;
const stateName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

function nameFault(name: string): string | null {
  if (reservedKeys.has(name)) return `${name} is a reserved key of the blackboard`;
  if (stateName.test(name)) return null;
  return "must be 1 to 64 letters, digits, _ and -, beginning with a letter or _";
}

const kinds = {
  Agent: agentState,
  System: systemState,
  Human: humanState,
  ParallelAgents: parallelAgentsState,
  ContainerRun: containerRunState,
  ParallelContainerRun: parallelContainersState,
  Subworkflow: subworkflowState,
};

const common = {
  transitions,
  max_state_visits: integer(1, 20).or(5),
  outcome: choice("completed", "failed")
    .check((_outcome, _scope, fields) => {
      const transitions = fields.raw("transitions");
      const goesOn = Array.isArray(transitions) && transitions.length > 0;
      return goesOn ? "belongs to states without transitions" : null;
    })
    .or("completed"),
  kind: choice(...(Object.keys(kinds) as StateKind[])).required(),
};

interface Common {
  readonly transitions: State["transitions"] | null;
  readonly max_state_visits: number;
  readonly outcome: State["outcome"];
}
const stateOf = (own: Of<State>, { transitions, max_state_visits, outcome }: Common): State =>
  ({ ...own, transitions: transitions ?? [], max_state_visits, outcome }) as State;

type Named = readonly [name: string, state: State];

const state = variants("kind", common, kinds, stateOf).named("State");

/** The states by name. */
const mapped = new Shape<readonly Named[], Reading>({
  read: (fields, key, reading) => {
    const written = fields.raw(key);
    const section = fields.section(key);
    return Object.keys(isObject(written) ? written : {}).flatMap((name): Named[] => {
      const fault = nameFault(name);
      if (fault !== null) section.issue(name, `the name ${fault}`);
      if (!section.has(name)) section.issue(name, "must be an object");
      reading.paths.set(name, section.at(name));
      const read = state.declared.read(section, name, reading);
      return read === null ? [] : [[name, read]];
    });
  },
  schema: (definitions) => ({
    type: "object",
    minProperties: 1,
    maxProperties: maxStates,
    propertyNames: { pattern: stateName.source },
    additionalProperties: state.declared.schema(definitions),
  }),
  texts: state.declared.texts === null ? null : { each: state.declared.texts },
  expected: "must be an object",
});

/** The states in a list, where each says its own name. */
const listed = list(
  variants("kind", { name: text().check(nameFault).required(), ...common }, kinds, (own, { name, ...rest }) =>
    name === null ? null : ([name, stateOf(own, rest)] as const),
  )
    .as((named, { paths }: Reading, fields, key): Named => {
      paths.set(named[0], fields.at(key));
      return named;
    })
    .named("NamedState"),
  maxStates,
  null,
  ([name], before, fields, position) => {
    if (before.some(([other]) => other === name)) fields.issue(`${position}.name`, "is the name of another state");
  },
);

export const states = either("must be a map or a list of states", { object: mapped, array: listed })
  .guard((written) => {
    const { length } = Array.isArray(written) ? written : Object.keys(written ?? {});
    return length > maxStates ? `may have at most ${maxStates} states` : null;
  })
  .check((states, _scope, fields, key) =>
    states.length === 0 && Object.keys(fields.raw(key) ?? {}).length === 0 ? "must have a state" : null,
  )
  .required();

/** The names of the states of a manifest, as far as transitions may lead to them. */
export function namesOf(states: Json | undefined): ReadonlySet<string> {
  if (Array.isArray(states)) {
    const names = states.map((state: Json) => (isObject(state) ? state.name : null));
    return new Set(names.filter((name) => typeof name === "string" && nameFault(name) === null) as string[]);
  }
  if (!isObject(states)) return new Set();
  return new Set(Object.keys(states).filter((name) => isObject(states[name])));
}
