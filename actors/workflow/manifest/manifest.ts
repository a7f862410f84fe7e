/** The manifest of a workflow as a whole, and what a run interprets. */

import { isObject, type Json } from "../../kernel/json.ts";
import { manifestSchema } from "../../manifest/document.ts";
import { Fields } from "../../manifest/fields.ts";
import { Findings } from "../../manifest/findings.ts";
import { head } from "../../manifest/members.ts";
import { object } from "../../manifest/object.ts";
import { anything, choice, either, flag, integer, list, text } from "../../manifest/shape.ts";
import { checkStorable } from "../../manifest/storable.ts";
import { type TextPaths, textPath } from "../../manifest/text-paths.ts";
import { isContextName } from "../../policy/security/spec.ts";
import type { Definition } from "../definition.ts";
import { reservedKeys } from "../run/blackboard/variables.ts";
import { checkBranches } from "./checks/branches.ts";
import { checkCompensations } from "./checks/compensations.ts";
import { warnOfUnboundedMaps } from "./checks/maps.ts";
import { findMissingPaths } from "./checks/missing-paths.ts";
import { warnOfPaths } from "./checks/reachable.ts";
import { Ways } from "./checks/ways.ts";
import { workflowDescriptions } from "./descriptions.ts";
import type { JudgedWorkflow, WorkflowOffer } from "./judged.ts";
import type { Reading } from "./members.ts";
import { metadata, noMetadata } from "./metadata.ts";
import { referencesOf } from "./references.ts";
import { checkScheduledInputs, schedules } from "./schedules.ts";
import { allNamesOf, namesOf } from "./states/by-name.ts";
import { states } from "./states/states.ts";
import { storage } from "./storage.ts";
import { Templates } from "./templates.ts";

const maxContextKeys = 4096;

const context = either("must be an object", { object: anything })
  .check((context, _scope, fields, key) => {
    for (const reserved of reservedKeys) {
      if (!Object.hasOwn(Object(context), reserved)) continue;
      const message = "This key is the system's; the value is never seen there";
      fields.warn(`${key}.${reserved}`, "reserved_blackboard_key", message);
    }
    return Object.keys(context).length > maxContextKeys ? `may have at most ${maxContextKeys} keys` : null;
  })
  .schema({ type: "object", maxProperties: maxContextKeys });

type Body = Omit<Definition, "name" | "version" | "input_schema" | "output_schema" | "output_template">;

const emptyBody: Body = {
  context: {},
  initial_state: "",
  max_total_transitions: 50,
  strict_templates: false,
  storage: { workspace: null, shared_volumes: [] },
  states: {},
};

const spec = object({
  // Before the states, which mount what is declared here.
  storage: storage.section(),
  states,
  context,
  initial_state: text()
    .check((name, { states }: Reading) => (states.has(name) ? null : "names no state"))
    .required()
    .or(""),
  max_total_transitions: integer(1, 100).or(emptyBody.max_total_transitions),
  strict_templates: flag(),
  security_context: text({ min: 1, max: 128 }).check((name) =>
    isContextName(name) ? null : ["there is no such security context", "unknown_security_context"],
  ),
  compensate_on: list(choice("failed", "cancelled", "timed_out"), 3).as((ends) => [...new Set(ends)]),
  schedules,
}).build(
  ({ states, context, security_context, compensate_on, schedules, ...read }): Body => ({
    ...read,
    context: isObject(context) ? context : {},
    states: Object.fromEntries(states ?? []),
    ...(security_context === null ? {} : { security_context }),
    ...(compensate_on === null ? {} : { compensate_on }),
    ...(schedules === null || schedules.length === 0 ? {} : { schedules: [...schedules] }),
  }),
);

const manifest = object({ ...head("Workflow"), metadata: metadata.required(), spec: spec.required() });

/** The JSON Schema (2020-12) of such manifests. It says less than the rules: what it refuses is refused. */
export const workflowSchema = manifestSchema("Manifest of a workflow", manifest, workflowDescriptions);

const texts = manifest.declared.texts ?? {};
/** Where a manifest holds text, bare or in a wrapper. */
export const workflowTextPaths: TextPaths = {
  members: { ...texts.members, manifest: texts, manifest_yaml: textPath, scope: textPath },
};

/** Never throws for what the document holds. All issues are found at once. */
export function judgeWorkflow(document: Json, offer: WorkflowOffer): JudgedWorkflow {
  const findings = new Findings();
  checkStorable(document, findings);
  const root = Fields.of(document, "", findings);
  const written = isObject(document) && isObject(document.spec) ? document.spec.states : null;
  const reading: Reading = {
    offer,
    templates: new Templates(),
    states: namesOf(written),
    names: allNamesOf(written),
    isInBranch: false,
    shared: new Set(),
    paths: new Map(),
  };
  const read = isObject(document) ? manifest.readAll(root, reading) : null;
  const head = read?.metadata ?? noMetadata;
  const { name, version, input_schema, output_schema, output_template } = head;
  const body = read?.spec ?? emptyBody;
  const definition = { name, version, input_schema, output_schema, output_template, ...body };
  checkStates(definition, reading, findings);
  checkScheduledInputs(definition, findings);
  const { issues, warnings } = findings;
  return { definition, metadata: head, references: referencesOf(definition, reading.paths), issues, warnings };
}

/** What is found of the states together. */
function checkStates(definition: Definition, { paths, templates }: Reading, findings: Findings): void {
  const ways = new Ways(definition.states);
  checkCompensations(definition, ways, paths, findings);
  checkBranches(ways, paths, findings);
  warnOfPaths(definition.initial_state, ways, paths, findings);
  warnOfUnboundedMaps(definition, paths, findings);
  findMissingPaths(definition, templates, ways, paths, findings);
}
