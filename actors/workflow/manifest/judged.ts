/** What a manifest is judged against, and what comes of it. */
import type { Json } from "../../kernel/json.ts";
import { type Issue, invalid, type Problem } from "../../kernel/problem.ts";
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

/** What the node that judges a manifest can give, as far as manifests may ask for it. */
export interface WorkflowOffer {
  /** Isolations, `inherit` aside. */
  readonly isolations: readonly string[];
  /** What `inherit` means here. */
  readonly defaultIsolation: string;
  /** Commands and agents may reach every public host. */
  readonly openEgress: boolean;
  /** Whether a container may run as root. */
  readonly rootAllowed: boolean;
  /** Whether mail can be sent. */
  readonly email: boolean;
  /** Registries that images may come from, as in agent manifests; null: any. */
  readonly imageRegistries: readonly string[] | null;
  /** Images that may be run without asking a registry; null: any. */
  readonly localImages: readonly string[] | null;
}

/** Codes that are given to the whole answer where nothing else is wrong. */
const own = ["unsafe_template_position", "unsupported_output_handler"] as const;

/** The refusal that a manifest's issues amount to. */
export function refusal(issues: readonly Issue[]): Problem {
  const code = own.find((one) => issues.length > 0 && issues.every((issue) => issue.code === one));
  return invalid(code ?? "invalid_manifest", "The manifest is invalid", issues);
}
