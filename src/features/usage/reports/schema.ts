/** The wire shapes of usage. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text, Time } from "../../../../actors/kernel/schema.ts";
import { figures, groupings } from "../../../../actors/usage/figures.ts";
import { listSchema, pagingQuery } from "../../../http/paging.ts";

const Grouping = Type.Union(groupings.map((name) => Type.Literal(name)));
const timeQuery = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 64, description }));

export const UsageQuery = Type.Object({
  ...pagingQuery,
  from: timeQuery("A date or a time; 30 days before `to` when absent"),
  to: timeQuery("A date or a time, which is not part of it; now when absent"),
  group_by: Type.Optional(Type.Union(Grouping.anyOf, { description: "`day` when absent" })),
});
export type UsageQuery = Static<typeof UsageQuery>;

const Figure = Nullable(Type.Number());
const Figures = Object.fromEntries(figures.map((name) => [name, Figure])) as {
  readonly [Name in (typeof figures)[number]]: typeof Figure;
};

/** What was used, together. */
const UsageTotals = Type.Object(Figures);

/** Of one day, agent, model, workflow or tool. A figure that the grouping does not divide is null. */
export const UsageRow = Type.Object({ key: Nullable(Text), name: Nullable(Text), ...Figures });
export type UsageRow = Static<typeof UsageRow>;

export const UsageReport = Type.Object({
  ...listSchema("usage", UsageRow).properties,
  from: Time,
  to: Time,
  group_by: Grouping,
  totals: UsageTotals,
});

export const named = { UsageReport, UsageRow, UsageTotals };
