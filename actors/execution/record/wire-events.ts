/** The events of an execution as streams carry them, as one schema: an object with one member, the event's name. */
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Text } from "../../kernel/schema.ts";
import { type EventName, eventFields, verboseMembers } from "../events.ts";

const named = (name: EventName): TSchema => {
  const fields: TProperties = eventFields[name].properties;
  const shown = verboseMembers[name] ?? {};
  const members = Object.entries(fields).flatMap(([member, schema]): [string, TSchema][] => {
    const verboseName = shown[member];
    if (verboseName !== undefined) {
      return [[verboseName, Type.Optional(Type.Unsafe({ ...schema, description: "With `verbose=true`" }))]];
    }
    // Those that start with `_` are for the record alone.
    return member.startsWith("_") ? [] : [[member, schema]];
  });
  return Type.Object({ [name]: Type.Object({ execution_id: Text, agent_id: Text, ...Object.fromEntries(members) }) });
};

export const ExecutionEvent = Type.Union(
  (Object.keys(eventFields) as EventName[]).map((name) => named(name)),
  {
    description:
      "The data of one event. With `format=flat` its members stand beside `type`, `event_type`, `sequence`, `timestamp` and `data`",
  },
);
