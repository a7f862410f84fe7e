/** Everything that carries an output out of an execution, put together. */
import type { Activity } from "../../../runtime/port.ts";
import { type DeliveryOptions, deliverySendActivity } from "./deliver.ts";
import { outputHandleActivity, outputRecallActivity } from "./output-handler.ts";

export function outputActivities(options: Omit<DeliveryOptions, "firstDelayMs">): readonly Activity[] {
  return [outputHandleActivity(options), outputRecallActivity(options.runtime), deliverySendActivity(options)];
}
