/** Opens features in the order of their needs, and gathers what they bring. */
import type {
  AnyFeature,
  InternalAddress,
  NodeContext,
  Opened,
  TenantErasure,
  TenantExport,
  TenantWork,
} from "../features/feature.ts";
import type { RuntimeWork } from "../runtime/index.ts";
import type { Disposer } from "./disposer.ts";

/** What all features together bring. */
export interface Mounted {
  readonly opened: readonly Opened<unknown>[];
  readonly tenantWork: TenantWork;
  work(internal: InternalAddress): RuntimeWork;
}

/** @throws Error for a feature that needs itself, directly or through others */
export function inOrder(features: readonly AnyFeature[]): readonly AnyFeature[] {
  const ordered = new Set<AnyFeature>();
  const visit = (feature: AnyFeature, way: readonly AnyFeature[]): void => {
    if (ordered.has(feature)) return;
    if (way.includes(feature)) {
      throw new Error(`features need each other: ${[...way, feature].map(({ name }) => name).join(" → ")}`);
    }
    for (const need of Object.values(feature.needs)) visit(need, [...way, feature]);
    ordered.add(feature);
  };
  for (const feature of features) visit(feature, []);
  return [...ordered];
}

function tenantExport(features: readonly AnyFeature[], opened: readonly Opened<unknown>[]): TenantExport {
  const tables = features.flatMap(({ exported = {} }) => Object.entries(exported));
  return {
    tables: new Map(tables.flatMap(([name, table]) => (typeof table === "string" ? [] : [[name, table] as const]))),
    records: opened.flatMap(({ exportedRecords = [] }) => exportedRecords),
    async *files(tenant) {
      for (const { exportedFiles } of opened) if (exportedFiles !== undefined) yield* exportedFiles(tenant);
    },
  };
}

/** @throws what a feature throws that cannot open */
export async function openFeatures(
  features: readonly AnyFeature[],
  node: NodeContext,
  disposer: Disposer,
): Promise<Mounted> {
  const services = new Map<AnyFeature, unknown>();
  const all: Opened<unknown>[] = [];
  const erasures: TenantErasure[] = [];
  for (const feature of inOrder(features)) {
    const needs = Object.fromEntries(
      Object.entries(feature.needs).map(([name, need]) => [name, services.get(need)] as const),
    );
    // `defineFeature` has checked that the feature fits what it declares; the list has folded its types away.
    const opened = await feature.open(node as never, needs as never);
    services.set(feature, opened.service);
    all.push(opened);
    erasures.unshift({ name: feature.name, tables: feature.tenantTables ?? [], erase: opened.erase ?? null });
    if (opened.close !== undefined) disposer.push(opened.close);
  }
  const toolProviders = all.flatMap(({ toolProviders = [] }) => toolProviders);
  for (const { toolsKnown } of all) toolsKnown?.(toolProviders);
  for (const { exportsKnown } of all) exportsKnown?.(tenantExport(features, all));
  return {
    opened: all,
    tenantWork: {
      erasures,
      async endWork(tenant) {
        let isOver = true;
        // What starts others first.
        for (const { endWork } of all.toReversed()) isOver = ((await endWork?.(tenant)) ?? true) && isOver;
        return isOver;
      },
    },
    work: (internal) => ({
      actors: all.flatMap(({ actors = [] }) => actors),
      activities: all.flatMap(({ activities }) => activities?.(internal) ?? []),
      projections: all.flatMap(({ projections = [] }) => projections),
      facts: all.flatMap(({ facts = [] }) => facts),
      announced: (news) => {
        for (const { announced } of all) announced?.(news);
      },
      redisLost: () => {
        for (const { redisLost } of all) redisLost?.();
      },
      interrupted: () => {
        for (const { interrupted } of all) interrupted?.();
      },
    }),
  };
}
