/** Activities: slow or outside work that an actor asks for. */
import type { Json } from "./json.ts";

/** What became of a piece of work. `code` is stable; `terminal` failures are not worth a repeat. */
export type Outcome =
  | { readonly id: string; readonly ok: true; readonly value: Json }
  | {
      readonly id: string;
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
    };
