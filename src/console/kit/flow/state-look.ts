/** The picture of each kind of state, and the colours of what came of it. */
import {
  Bot,
  Boxes,
  CircleHelp,
  Clock,
  Container,
  GitBranch,
  Globe,
  Layers,
  type LucideIcon,
  Server,
  SquareTerminal,
  UserCheck,
  Users,
  Workflow,
  Wrench,
} from "lucide-react";
import { type Tone, toneOf } from "../values/status.tsx";

const pictures: Readonly<Record<string, LucideIcon>> = {
  Agent: Bot,
  System: SquareTerminal,
  Human: UserCheck,
  ParallelAgents: Users,
  ContainerRun: Container,
  ParallelContainerRun: Boxes,
  Subworkflow: Workflow,
  Wait: Clock,
  Map: Layers,
  Branch: GitBranch,
  Tool: Wrench,
  Fleet: Server,
  Http: Globe,
};

/** @param kind of a state; any other gets a picture of its own */
export const pictureOf = (kind: string): LucideIcon => pictures[kind] ?? CircleHelp;

/** Results of states beside the statuses of records. */
const results: Readonly<Record<string, Tone>> = {
  success: "good",
  responded: "good",
  complete: "good",
  skipped: "neutral",
  // It failed, and a rule for that led on.
  led_on: "warn",
};

export const resultTone = (status: string): Tone => results[status] ?? toneOf(status);
