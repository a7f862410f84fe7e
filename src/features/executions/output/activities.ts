/** Everything that carries an output out of an execution, put together. */
import type { ActivityDefinition } from "../../../runtime/port.ts";
import { type DeliveryOptions, deliverySendActivity } from "./deliver.ts";
import { outputHandleActivity, outputRecallActivity } from "./output-handler.ts";

export function outputActivities(options: Omit<DeliveryOptions, "firstDelayMs">): readonly ActivityDefinition[] {
  return [outputHandleActivity(options), outputRecallActivity(options.runtime), deliverySendActivity(options)];
}
