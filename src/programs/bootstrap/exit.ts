/** How an exchange ends as a program: its exit code and what it writes. */
import type { ExchangeOutcome } from "./exchange.ts";

export const exitCodes = { final: 0, fault: 1, badInput: 2, unauthorized: 3, refused: 4, unavailable: 5 } as const;

export interface ProgramExit {
  readonly exitCode: number;
  /** All of standard output. */
  readonly output: string;
  /** One line of diagnostics; null when all went well. */
  readonly error: string | null;
}

export function exitOf(outcome: ExchangeOutcome): ProgramExit {
  switch (outcome.kind) {
    case "final":
      return { exitCode: exitCodes.final, output: `${outcome.content}\n`, error: null };
    case "refused": {
      const unauthorized = outcome.status === 401 || outcome.status === 403;
      const exitCode = unauthorized ? exitCodes.unauthorized : exitCodes.refused;
      return { exitCode, output: "", error: `refused: ${outcome.status} ${outcome.code}` };
    }
    case "unavailable":
      return { exitCode: exitCodes.unavailable, output: "", error: `gave up: ${outcome.reason}` };
  }
}

/** One line of diagnostics as the bootstrap writes it to standard error. */
export const diagnostic = (level: "ERROR" | "WARN" | "DEBUG", message: string): string =>
  `[BOOTSTRAP ${level}] ${message}\n`;
