/** What a tool says of itself. A server's word for it is no promise. */
import { Badge } from "../../../kit/values/status.tsx";
import type { Tool } from "../words.ts";

export function Annotations({ of }: { readonly of: Tool["annotations"] }) {
  return (
    <>
      {of.readOnlyHint ? (
        <Badge tone="good" title="It says that it changes nothing">
          read-only
        </Badge>
      ) : of.destructiveHint ? (
        <Badge tone="bad" title="It may delete or overwrite">
          destructive
        </Badge>
      ) : (
        <Badge title="It changes things, and overwrites none">adds only</Badge>
      )}
      {of.idempotentHint && !of.readOnlyHint && (
        <Badge title="The same call once more changes nothing further">idempotent</Badge>
      )}
      {of.openWorldHint && (
        <Badge tone="info" title="It reaches what lies outside of the service">
          open world
        </Badge>
      )}
    </>
  );
}
