/** Looking into a view for people: listings, single entries, open files. */
import { constants, type Stats } from "node:fs";
import { fileURLToPath } from "node:url";
import { BudgetExceeded } from "../../../../lib/guarded/child.ts";
import { runGuarded } from "../../../../lib/guarded/guarded.ts";
import type { ViewSpec } from "../../../tools/fs/port.ts";
import { look, pathOf, View } from "../../../tools/fs/port.ts";
import { ToolFailure, type ToolOutcome, ToolRefusal } from "../../../tools/port.ts";
import { isDirectoryProblem } from "../../paths.ts";
import type { ListedEntry, ListingJob } from "./listing-program.ts";

const program = fileURLToPath(new URL("./listing-program.ts", import.meta.url));
const listBudgetMs = 20_000;

export interface Listing {
  readonly entries: readonly ListedEntry[];
  /** There are more. */
  readonly more: boolean;
}

/** Entries of a directory, directories first, then by name. @throws ToolFailure, ToolRefusal, SlotsFull */
export async function listFiles(tenant: string, job: ListingJob, signal: AbortSignal): Promise<Listing> {
  const outcome = (await guarded(tenant, job, signal)) as ToolOutcome;
  // The program that lists is svc's own, and this is what it writes.
  if (outcome.status === "succeeded") return outcome.result as unknown as Listing;
  if (outcome.status === "failed") throw new ToolFailure(outcome.code, outcome.message);
  const { error_code, code, violation_type, message, attempted } = outcome;
  throw new ToolRefusal(error_code, code, violation_type, message, attempted);
}

async function guarded(tenant: string, job: ListingJob, signal: AbortSignal): Promise<unknown> {
  try {
    return await runGuarded(program, job, { kind: "walk", tenant, budgetMs: listBudgetMs, signal });
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    throw new ToolFailure("timeout", "the listing took too long");
  }
}

/** What is at a path, links followed within the view. @throws ToolFailure `not_found`; ToolRefusal */
export function lookAt(spec: ViewSpec, path: string): ListedEntry {
  using view = new View(spec);
  return view.at(path, { access: "see" }, (place) => {
    const kind = view.kindOf(place);
    const stats = look(place);
    if (stats === null || (kind !== "file" && kind !== "directory")) {
      throw new ToolFailure("not_found", `${place.shown} does not exist`);
    }
    const directory = kind === "directory";
    const { shown } = place;
    const name = shown.slice(shown.lastIndexOf("/") + 1);
    return { name, path: shown, directory, size: directory ? 0 : stats.size, modifiedMs: stats.mtimeMs };
  });
}

export interface OpenedFile {
  /** The caller closes it. */
  readonly fd: number;
  readonly stats: Stats;
  readonly name: string;
  /** In the view, no link in it. */
  readonly path: string;
}

/** @throws Problem 422 `is_a_directory`; ToolFailure; ToolRefusal */
export function openForReading(spec: ViewSpec, path: string): OpenedFile {
  using view = new View(spec);
  return view.at(path, { access: "read" }, (place) => {
    if (view.kindOf(place) === "directory") throw isDirectoryProblem();
    const opened = view.openFile(place, constants.O_RDONLY);
    return { ...opened, name: place.name ?? "", path: pathOf(place) };
  });
}
