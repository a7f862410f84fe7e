/** What callers write of a security context: what cannot be meant is told, and what stands is made uniform. */
import type { Issue } from "../../kernel/problem.ts";
import { ExpressionError, parseExpression } from "../../template/expression.ts";
import { domainEntryFault } from "./domains.ts";
import { pathEntryFault } from "./paths.ts";
import {
  type Capability,
  type SecurityContextSpec,
  toolApprovalOf,
  type WrittenCapability,
  type WrittenToolApproval,
} from "./spec.ts";

/** What the shape alone does not say. @param path dotted, of the list of capabilities */
export function capabilityIssues(capabilities: readonly WrittenCapability[], path = "capabilities"): Issue[] {
  return capabilities.flatMap((capability, at) => {
    const here = `${path}.${at}`;
    const { path_allowlist, domain_allowlist, approval } = capability;
    return [
      ...entryIssues(path_allowlist, `${here}.path_allowlist`, pathEntryFault),
      ...entryIssues(domain_allowlist, `${here}.domain_allowlist`, domainEntryFault),
      ...(approval ? toolApprovalIssues(approval, `${here}.approval`) : []),
    ];
  });
}

/** Of an approval as a capability or a manifest writes it. @param path dotted */
export function toolApprovalIssues({ when, approvers = [], quorum = 1 }: WrittenToolApproval, path: string): Issue[] {
  const issues: Issue[] = [];
  const fault = when === undefined || when === null ? null : expressionFault(when);
  if (fault !== null) issues.push({ path: `${path}.when`, message: fault, code: "invalid_expression" });
  const named = new Set(approvers);
  const isOpen = named.size === 0 || approvers.some((one) => one.startsWith("role:"));
  if (!isOpen && named.size < quorum) {
    issues.push({ path: `${path}.quorum`, message: "asks for more people than may decide", code: "invalid" });
  }
  return issues;
}

function expressionFault(text: string): string | null {
  try {
    parseExpression(text);
    return null;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message.slice(0, 300);
  }
}

function entryIssues(
  entries: readonly string[] | null | undefined,
  path: string,
  faultOf: (entry: string) => string | null,
): Issue[] {
  return (entries ?? []).flatMap((entry, at) => {
    const message = faultOf(entry);
    return message === null ? [] : [{ path: `${path}.${at}`, message, code: "invalid" }];
  });
}

/** The specification as it is stored: without what is null, approvals with every member. */
export function specOf(capabilities: readonly WrittenCapability[], denied: readonly string[]): SecurityContextSpec {
  return {
    capabilities: capabilities.map((written): Capability => {
      const { approval, ...rest } = written;
      const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
      return {
        ...(present as typeof rest),
        ...(approval ? { approval: toolApprovalOf(approval) } : {}),
      };
    }),
    deny_list: [...denied],
  };
}
