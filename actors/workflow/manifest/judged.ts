/** A manifest once it was judged. */
import type { Json } from "../../kernel/json.ts";
import type { Issue } from "../../kernel/problem.ts";
import type { Definition } from "../definition.ts";

export interface WorkflowMetadata {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  /** Null: not declared. */
  readonly input_schema: Json;
  readonly output_schema: Json;
  readonly output_template: Json;
}

/** With issues, the definition is only as good as could be read. */
export interface JudgedWorkflow {
  readonly definition: Definition;
  readonly metadata: WorkflowMetadata;
  /** With the paths of this manifest. */
  readonly references: References;
  readonly issues: readonly Issue[];
  readonly warnings: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** A body, read but not judged. */
export interface ParsedWorkflow {
  readonly document: Json;
  /** The manifest's text as it was sent, or made from the JSON. */
  readonly yaml: string;
  /** Beside the manifest in a wrapper; null: not named. */
  readonly force: boolean | null;
  readonly scope: "tenant" | "global" | null;
}

/** What a definition names literally (templates aside), with the manifest's path of each. */
export interface References {
  readonly agents: readonly { readonly name: string; readonly path: string }[];
  readonly workflows: readonly { readonly name: string; readonly path: string }[];
  /** Volumes of the tenant to work in. */
  readonly volumes: readonly { readonly id: string; readonly path: string }[];
}
