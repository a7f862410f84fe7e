/** References that stand in definitions, as other features use them. */
export type { References } from "./references.ts";
export type {
  ReferenceFault,
  ReferenceSource,
  ReferenceUse,
  ResolvedReference,
} from "./source.ts";
