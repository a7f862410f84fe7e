/** Judges a workflow manifest as a whole and resolves it into what a run interprets. */

import { isObject, type Json } from "../../kernel/json.ts";
import { Fields } from "../../manifest/fields.ts";
import { Findings } from "../../manifest/findings.ts";
import { checkStorable } from "../../manifest/storable.ts";
import type { Definition, State } from "../definition.ts";
import { reservedKeys } from "../run/blackboard/reserved.ts";
import { type Metadata, noMetadata, readMetadata } from "./metadata.ts";
import type { WorkflowOffer } from "./offer.ts";
import { warnOfPaths } from "./reachable.ts";
import type { Reading } from "./reading.ts";
import { referencesOf } from "./references.ts";
import type { JudgedWorkflow } from "./states/judged.ts";
import { readState, writtenStates } from "./states/states.ts";
import { readStorage } from "./storage.ts";
import { Templates } from "./templates.ts";

const apiVersions = ["svc.dev/v1", "100monkeys.ai/v1"];
const maxContextKeys = 4096;

/** Never throws for what the document holds. All issues are found at once. */
export function judgeWorkflow(document: Json, offer: WorkflowOffer): JudgedWorkflow {
  const findings = new Findings();
  checkStorable(document, findings);
  const templates = new Templates();
  const root = Fields.of(document, "", findings);
  const isManifest = isObject(document);
  if (isManifest) readHead(root);
  const metadata = isManifest ? readMetadata(root, templates) : noMetadata;
  const spec = isManifest ? root.requiredSection("spec") : null;
  if (isManifest) root.close();
  const paths = new Map<string, string>();
  const body = spec === null ? noBody : readSpec(spec, offer, templates, paths);
  const definition = definitionOf(metadata, body);
  const { issues, warnings } = findings;
  return { definition, metadata, references: referencesOf(definition, paths), issues, warnings };
}

function readHead(root: Fields): void {
  const apiVersion = root.requiredText("apiVersion");
  if (apiVersion !== null && !apiVersions.includes(apiVersion)) {
    root.issue("apiVersion", `must be one of ${apiVersions.join(", ")}`, "unsupported_api_version");
  }
  if (!root.has("kind")) root.issue("kind", "is required");
  root.choice("kind", ["Workflow"]);
}

type Body = Pick<Definition, "context" | "initial_state" | "max_total_transitions" | "storage" | "states">;

const noBody: Body = {
  context: {},
  initial_state: "",
  max_total_transitions: 50,
  storage: { workspace: null, shared_volumes: [] },
  states: {},
};

function definitionOf(metadata: Metadata, body: Body): Definition {
  const { name, version, input_schema, output_schema, output_template } = metadata;
  return { name, version, input_schema, output_schema, output_template, ...body };
}

/** @param paths gets the place of every state */
function readSpec(spec: Fields, offer: WorkflowOffer, templates: Templates, paths: Map<string, string>): Body {
  const written = writtenStates(spec);
  const names = new Set(written.map(({ name }) => name));
  for (const { name, fields } of written) paths.set(name, fields.path);
  const storage = readStorage(spec, names);
  const reading: Reading = {
    offer,
    templates,
    states: names,
    shared: new Set(storage.shared_volumes.map(({ name }) => name)),
  };
  const states: [string, State][] = written.flatMap(({ name, fields }) => {
    const state = readState(fields, reading);
    return state === null ? [] : [[name, state]];
  });
  const body = {
    context: readContext(spec),
    initial_state: readInitial(spec, names),
    max_total_transitions: spec.integer("max_total_transitions", { min: 1, max: 100 }) ?? noBody.max_total_transitions,
    storage,
    states: Object.fromEntries(states),
  };
  spec.close();
  warnOfPaths(body.initial_state, body.states, paths, spec.findings);
  return body;
}

function readInitial(spec: Fields, states: ReadonlySet<string>): string {
  const name = spec.requiredText("initial_state");
  if (name === null || states.has(name)) return name ?? "";
  return spec.issue("initial_state", "names no state") ?? name;
}

function readContext(spec: Fields): Definition["context"] {
  const context = spec.raw("context");
  if (context === null) return {};
  if (!isObject(context)) return spec.issue("context", "must be an object") ?? {};
  const keys = Object.keys(context);
  if (keys.length > maxContextKeys) spec.issue("context", `may have at most ${maxContextKeys} keys`);
  for (const key of reservedKeys) {
    if (!Object.hasOwn(context, key)) continue;
    spec.warn(`context.${key}`, "reserved_blackboard_key", "This key is the system's; the value is never seen there");
  }
  return context;
}
