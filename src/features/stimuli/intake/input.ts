/** What a run that a stimulus starts is given (stimuli contract, section 2). */

import type { Json } from "../../../../actors/kernel/json.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { payloadOf } from "../../../../actors/stimulus/content.ts";
import type { Stimulus } from "./port.ts";

export function runInput(stimulus: Stimulus): Json {
  const { content, contentEncoding, contentType, source, id, channel, receivedAt, headers, headersTruncated } =
    stimulus;
  return {
    stimulus_content: content,
    stimulus_content_encoding: contentEncoding,
    stimulus_payload: contentEncoding === "utf-8" ? payloadOf(content, contentType) : null,
    stimulus_source: source,
    stimulus_id: id,
    stimulus_channel: channel,
    received_at: iso(receivedAt),
    headers: { ...headers },
    ...(headersTruncated ? { headers_truncated: true } : {}),
  };
}
