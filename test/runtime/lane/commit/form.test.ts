import { expect, test } from "bun:test";
import { CommitForms } from "../../../../src/runtime/lane/commit/form.ts";
import type { PartitionProgress } from "../../../../src/runtime/lane/commit/progress.ts";

const partitions: readonly PartitionProgress[] = [
  { partition: 1, epoch: 1, mailboxOffset: "1-0", timeline: "1", outboxSequence: 0, published: 0 },
];
const progress = { text: "update p set a = $1 returning 1", parameters: ["x"] };

test("parameters of a commit's parts are numbered through, and the fence comes last", () => {
  const other = { text: "insert into b values ($1, $2, $1)", parameters: ["y", "z"] };
  const { text, parameters } = new CommitForms().compose([progress, other, other], partitions);
  expect(text).toContain("moved as (update p set a = $1 returning 1)");
  expect(text).toContain("part_1 as (insert into b values ($2, $3, $2))");
  expect(text).toContain("part_2 as (insert into b values ($4, $5, $4))");
  expect(text).toEndWith("select runtime_require_ownership((select count(*) from moved) = $6::int)");
  expect(parameters).toEqual(["x", "y", "z", "y", "z", 1]);
});

test("a bounded number of commits' forms is prepared, and those stay prepared", () => {
  const forms = new CommitForms();
  const compose = (index: number) =>
    forms.compose([progress, { text: `delete from t${index} where id = $1`, parameters: [index] }], partitions);
  const composed = Array.from({ length: 200 }, (_, index) => compose(index));
  expect(composed.filter((one) => one.isPrepared)).toHaveLength(64);
  for (const index of [0, 63]) expect(compose(index)).toEqual(composed[index] as (typeof composed)[number]);
  const rare = compose(199);
  expect(rare).toEqual(composed[199] as (typeof composed)[number]);
  expect(rare.isPrepared).toBe(false);
});
