/** Every place that the navigation and the command palette lead to, with the scope that opens it. */
import {
  Activity,
  Bot,
  Boxes,
  Building2,
  CheckSquare,
  Cpu,
  CreditCard,
  FileClock,
  FolderTree,
  Gauge,
  House,
  KeyRound,
  Link2,
  Lock,
  type LucideIcon,
  MailX,
  Network,
  PlaySquare,
  Route,
  ScrollText,
  Server,
  ShieldCheck,
  Signature,
  TriangleAlert,
  Users,
  Webhook,
  Workflow,
  Wrench,
} from "lucide-react";

export interface Place {
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** One of these opens it; empty: every caller. */
  readonly scopes: readonly string[];
  readonly operators?: true;
  /** Further words that find it. */
  readonly words?: string;
}

export interface Area {
  readonly title: string | null;
  readonly places: readonly Place[];
}

export const areas: readonly Area[] = [
  {
    title: null,
    places: [
      { path: "/", title: "Home", icon: House, scopes: [] },
      {
        path: "/approvals",
        title: "Approvals",
        icon: CheckSquare,
        scopes: ["approval:list"],
        words: "inbox people decide",
      },
    ],
  },
  {
    title: "Agents",
    places: [
      { path: "/agents", title: "Agents", icon: Bot, scopes: ["agent:list"], words: "manifest deploy" },
      { path: "/executions", title: "Executions", icon: Activity, scopes: ["execution:list"], words: "agent runs" },
      {
        path: "/workflows",
        title: "Workflows",
        icon: Workflow,
        scopes: ["workflow:list"],
        words: "definitions schedules",
      },
      { path: "/runs", title: "Runs", icon: PlaySquare, scopes: ["workflow:list"], words: "workflow executions" },
    ],
  },
  {
    title: "Events",
    places: [
      { path: "/stimuli", title: "Stimuli", icon: Webhook, scopes: ["stimulus:list"], words: "webhooks deliveries" },
      { path: "/sources", title: "Sources", icon: Route, scopes: ["stimulus:list"], words: "webhook routes secrets" },
    ],
  },
  {
    title: "Control",
    places: [
      {
        path: "/tools",
        title: "Tools",
        icon: Wrench,
        scopes: ["tool_server:read", "agent:read"],
        words: "mcp tool servers calls invocations try",
      },
      {
        path: "/security-contexts",
        title: "Security contexts",
        icon: ShieldCheck,
        scopes: ["security_context:read"],
        words: "policy capabilities deny list evaluator may this call",
      },
      {
        path: "/seal-sessions",
        title: "SEAL sessions",
        icon: Signature,
        scopes: ["seal:read"],
        words: "signed calls attestation revoke",
      },
      {
        path: "/fleet",
        title: "Fleet",
        icon: Server,
        scopes: ["aegis.edge.hosts.read", "aegis.edge.fleet.read"],
        words: "edge hosts groups commands",
      },
      { path: "/volumes", title: "Volumes", icon: FolderTree, scopes: ["volume:read"], words: "files" },
    ],
  },
  {
    title: "Access",
    places: [
      { path: "/secrets", title: "Secrets", icon: Lock, scopes: ["secret:list"] },
      { path: "/credentials", title: "Credentials", icon: Link2, scopes: ["credential:list"], words: "oauth grants" },
      { path: "/api-keys", title: "API keys", icon: KeyRound, scopes: ["key:list"] },
      { path: "/team", title: "Team", icon: Users, scopes: ["colony:read"], words: "members roles invitations" },
    ],
  },
  {
    title: "Account",
    places: [
      { path: "/billing", title: "Billing", icon: CreditCard, scopes: ["billing:read"], words: "plan invoices" },
      { path: "/limits", title: "Limits", icon: Gauge, scopes: ["usage:read"], words: "usage quotas rates" },
      { path: "/audit", title: "Audit", icon: ScrollText, scopes: ["audit:read"], words: "log who did what" },
    ],
  },
  {
    title: "Platform",
    places: [
      { path: "/admin/tenants", title: "Tenants", icon: Building2, scopes: ["tenant:list"], operators: true },
      {
        path: "/admin/nodes",
        title: "Nodes",
        icon: Network,
        scopes: ["node:list"],
        operators: true,
        words: "cluster partitions",
      },
      { path: "/admin/dead-letters", title: "Dead letters", icon: MailX, scopes: [], operators: true },
      {
        path: "/admin/incidents",
        title: "Incidents",
        icon: TriangleAlert,
        scopes: ["observability:read"],
        operators: true,
        words: "security violations",
      },
      { path: "/admin/models", title: "Models", icon: Cpu, scopes: [], operators: true, words: "llm providers" },
      {
        path: "/admin/limits",
        title: "Overrides",
        icon: FileClock,
        scopes: ["ratelimit:read"],
        operators: true,
        words: "rate limits",
      },
      { path: "/admin/doctor", title: "Doctor", icon: Boxes, scopes: [], operators: true, words: "checks health" },
    ],
  },
];
