/** What is sent and answered where the document leaves it open: texts as they are, members that were given. */
import { answer } from "../../client/client.ts";

/** A manifest as its author wrote it, in YAML or JSON. */
export const manifestBody = (text: string) => ({
  // The document names the manifest's shape; the service reads its text.
  body: text as never,
  bodySerializer: (body: unknown) => String(body),
  headers: { "Content-Type": "application/yaml" },
});

/** Makes a POST that starts work safe to repeat. */
export const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** Without the members that are undefined. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** What a route answers that has other forms than JSON as well: the client asks for JSON. @param T by the document */
export const jsonOf = <T>(call: Promise<{ readonly data?: unknown }>): Promise<T> => answer(call) as Promise<T>;
