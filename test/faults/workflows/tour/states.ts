/** The states of a tour: one of each kind, a retry, a run that follows, and what undoes them at the end. */
import type { Podman } from "../../../harness/outside/podman.ts";
import { failedEnd } from "../fixture.ts";

/** Where the world can hold a run: each kind of state, the time between two attempts, and what undoes. */
export const places = [
  ...["AGENT", "SYSTEM", "HUMAN", "FAN", "BOX", "STEPS", "BELOW", "SIGNAL", "STIMULUS", "EACH", "ROADS"],
  ...["TOOL", "FLEET", "RETRY", "HTTP", "UNDO"],
] as const;
export type Place = (typeof places)[number];

/** Those at which a command stands before a gate, and how many of its lines are there then. */
export const gated: Partial<Record<Place, readonly string[]>> = {
  AGENT: ["AGENT"],
  SYSTEM: ["SYSTEM"],
  FAN: ["FAN"],
  BOX: ["BOX"],
  STEPS: ["STEPS", "quick"],
  EACH: ["EACH-0", "EACH-1"],
  ROADS: ["ROADS"],
  UNDO: ["UNDO"],
};

const to = (target: string) => ({ transitions: [{ condition: "on_success", target }] });
export const gate = (place: string, mark: string = place) =>
  `echo "${mark}" >> marks; until [ -e go-${place} ]; do sleep 0.2; done`;
const listed = (of: string) => `{{${of}}} {{state.of.name}}{{state.of.visit}}`;

/** @param pod without it there are no states of containers */
export function statesOf(url: string, pod: Podman | null): Readonly<Record<string, object>> {
  const image = { image: pod?.bare, network_mode: "none" };
  const step = (name: string, text: string) => ({ name, ...image, command: ["sh", "-c", text] });
  const boxes = {
    BOX: { kind: "ContainerRun", name: "box", ...image, shell: true, command: [gate("BOX")], ...to("STEPS") },
    STEPS: {
      kind: "ParallelContainerRun",
      completion: "all_succeed",
      steps: [step("quick", "echo quick >> marks"), step("slow", gate("STEPS"))],
      ...to("BELOW"),
    },
  };
  return {
    GO: {
      kind: "System",
      command: "noop",
      transitions: [
        { condition: "custom", expression: "input.leg == 2", target: "AGENT" },
        { condition: "always", target: "NEXT" },
      ],
    },
    NEXT: {
      kind: "System",
      command: "noop",
      transitions: [],
      continue_as: { input: { leg: 2, name: "{{input.name}}", boxes: "{{input.boxes}}" } },
    },
    AGENT: { kind: "Agent", agent: "tourist", input: "x", ...to("SYSTEM") },
    SYSTEM: { kind: "System", command: gate("SYSTEM"), compensate: "NOTE", ...to("HUMAN") },
    HUMAN: {
      kind: "Human",
      prompt: "Go on?",
      transitions: [
        { condition: "rejected", target: "LOST" },
        { condition: "approved", target: "FAN" },
      ],
    },
    FAN: {
      kind: "ParallelAgents",
      agents: ["quick", "slow"].map((agent) => ({ agent, input: agent })),
      consensus: { strategy: "majority" },
      transitions:
        pod === null
          ? [{ target: "BELOW" }]
          : [{ condition: "custom", expression: "input.boxes == 'yes'", target: "BOX" }, { target: "BELOW" }],
    },
    ...(pod === null ? {} : boxes),
    BELOW: {
      ...{ kind: "Subworkflow", workflow_id: "below", mode: "blocking", result_key: "below" },
      ...{ input: { name: "{{input.name}}" }, ...to("SIGNAL") },
    },
    SIGNAL: { kind: "Wait", signal: "go", timeout: "1h", ...to("STIMULUS") },
    STIMULUS: {
      ...{ kind: "Wait", stimulus: { source: "tour", key: "name", equals: "{{input.name}}" }, timeout: "1h" },
      ...to("EACH"),
    },
    EACH: {
      kind: "Map",
      items: ["a", "b", "c"],
      state: {
        kind: "System",
        command: 'echo "EACH-$AT" >> marks; until [ -e go-EACH ]; do sleep 0.2; done',
        env: { AT: "{{index}}" },
      },
      ...{ concurrency: 2, batch: 2, compensate: "NOTE", ...to("ROADS") },
    },
    ROADS: {
      kind: "Branch",
      branches: [
        {
          name: "short",
          initial_state: "SHORT",
          states: { SHORT: { kind: "System", command: "noop", compensate: "NOTE", transitions: [] } },
        },
        {
          name: "long",
          initial_state: "LONG",
          states: {
            LONG: { kind: "System", command: gate("ROADS"), ...to("SLEEP") },
            SLEEP: { kind: "Wait", seconds: 1, transitions: [] },
          },
        },
        {
          name: "told",
          initial_state: "TOLD",
          states: { TOLD: { kind: "Wait", signal: "road", timeout: "1h", transitions: [] } },
        },
      ],
      ...to("TOOL"),
    },
    TOOL: {
      ...{ kind: "Tool", tool: "svc.workflow.run", arguments: { name: "tick", input: { name: "{{input.name}}" } } },
      ...to("FLEET"),
    },
    FLEET: {
      kind: "Fleet",
      target: { Selector: { tags: ["tour"] } },
      command: ["echo", "{{input.name}}"],
      ...to("HTTP"),
    },
    HTTP: {
      ...{ kind: "Http", method: "POST", url: `${url}/{{input.name}}`, body: { name: "{{input.name}}" } },
      ...{ retry: { attempts: 3, delay: "1s" }, compensate: "UNDO", ...to("LOST") },
    },
    LOST: failedEnd,
    UNDO: { kind: "System", command: gate("UNDO"), transitions: [] },
    NOTE: { kind: "System", command: "update_blackboard", env: { undone: listed("undone") }, transitions: [] },
  };
}
