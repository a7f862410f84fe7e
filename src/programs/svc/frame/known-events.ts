/** The events of a stream up to now. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Client } from "../../client/client.ts";

/** @param path of a stream that ends by itself (`follow=false`) @throws ApiError, Unreachable */
export async function* eventsOf(
  client: Client,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly id: string; readonly data: unknown }> {
  const { body } = await client.send(path, { headers: { Accept: "text/event-stream" }, signal });
  if (body === null) return;
  const events = body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  for await (const { id = "", data } of events) yield { id, data: JSON.parse(data) };
}
