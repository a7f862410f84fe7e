/** What is wrong with a manifest (issues) and what its author should know (warnings), collected while reading it. */
import { type Issue, Problem, type ProblemCode, problems } from "../kernel/problem.ts";

export interface Warning {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** An agent that the manifest names as a judge. */
export interface JudgeReference {
  readonly path: string;
  readonly name: string;
}

/** Beyond this the list is cut: an answer must stay far smaller than what provoked it. */
const maxListed = 200;

export class Findings {
  readonly issues: Issue[] = [];
  readonly warnings: Warning[] = [];
  /** In the order of the document; who they are is found out where agents are stored. */
  readonly judges: JudgeReference[] = [];

  /** `invalid` is the code of every ordinary fault. */
  issue(path: string, message: string, code = "invalid", extras: { available?: readonly string[] } = {}): void {
    if (this.issues.length < maxListed) this.issues.push({ path, message, code, ...extras });
  }

  warn(path: string, code: string, message: string): void {
    if (this.warnings.length < maxListed) this.warnings.push({ path, code, message });
  }

  judge(path: string, name: string): void {
    this.judges.push({ path, name });
  }

  /** Whether something is wrong with the value at the path or below it. */
  hasIssueAt(path: string): boolean {
    return this.issues.some((issue) => issue.path === path || issue.path.startsWith(`${path}.`));
  }

  /** The refusal these issues amount to: their common code when they share one, else `invalid_manifest`. */
  problem(): Problem {
    const [first] = this.issues;
    const shared = first !== undefined && this.issues.every((issue) => issue.code === first.code) ? first.code : null;
    const code = shared !== null && shared !== "invalid" && isProblemCode(shared) ? shared : "invalid_manifest";
    const available = shared === null ? undefined : first?.available;
    return new Problem(code, "Manifest is invalid", { issues: this.issues, ...(available ? { available } : {}) });
  }
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}
