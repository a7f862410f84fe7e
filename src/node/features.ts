/** The features of a node, in the order of `--help`, of the API document and, where needs leave it open, of opening. */
import { agents } from "../features/agents/feature.ts";
import { apiKeys } from "../features/api-keys/feature.ts";
import { approvals } from "../features/approvals/feature.ts";
import { audit } from "../features/audit/feature.ts";
import { billing } from "../features/billing/feature.ts";
import { changes } from "../features/changes/feature.ts";
import { cluster } from "../features/cluster/feature.ts";
import { colony } from "../features/colony/feature.ts";
import { consoleFeature } from "../features/console/feature.ts";
import { cortex } from "../features/cortex/feature.ts";
import { credentials } from "../features/credentials/feature.ts";
import { dashboard } from "../features/dashboard/feature.ts";
import { deadLetters } from "../features/dead-letters/feature.ts";
import { developmentIssuer } from "../features/development-issuer/feature.ts";
import { doctor } from "../features/doctor/feature.ts";
import { edgeAgentCalls } from "../features/edge/agent-calls/feature.ts";
import { edgeCommands } from "../features/edge/commands/feature.ts";
import { edgeEnrollment } from "../features/edge/enrollment/feature.ts";
import { edgeFleet } from "../features/edge/fleet/feature.ts";
import { edgeGroups } from "../features/edge/groups/feature.ts";
import { edgeHosts } from "../features/edge/hosts/feature.ts";
import { edgeKeys } from "../features/edge/keys/feature.ts";
import { edgeLink } from "../features/edge/link/feature.ts";
import { edgeRunStream } from "../features/edge/run-stream/feature.ts";
import { egress } from "../features/egress/feature.ts";
import { embeddedIssuer } from "../features/embedded-issuer/feature.ts";
import { encryption } from "../features/encryption/feature.ts";
import { executionTokens } from "../features/execution-tokens/feature.ts";
import { executions } from "../features/executions/feature.ts";
import type { AnyFeature } from "../features/feature.ts";
import { gateway } from "../features/gateway/feature.ts";
import { incidents } from "../features/incidents/feature.ts";
import { invocations } from "../features/invocations/feature.ts";
import { limits } from "../features/limits/feature.ts";
import { mail } from "../features/mail/feature.ts";
import { managementTools } from "../features/management-tools/feature.ts";
import { mcp } from "../features/mcp/feature.ts";
import { models } from "../features/models/feature.ts";
import { operationTools } from "../features/operation-tools/feature.ts";
import { pipeline } from "../features/pipeline/feature.ts";
import { references } from "../features/references/feature.ts";
import { samples } from "../features/samples/feature.ts";
import { schedules } from "../features/schedules/feature.ts";
import { seal } from "../features/seal/feature.ts";
import { secrets } from "../features/secrets/feature.ts";
import { securityContexts } from "../features/security-contexts/feature.ts";
import { signIn } from "../features/sign-in/feature.ts";
import { classification } from "../features/stimuli/classification/feature.ts";
import { history } from "../features/stimuli/history/feature.ts";
import { intake } from "../features/stimuli/intake/feature.ts";
import { sources } from "../features/stimuli/sources/feature.ts";
import { storageViolations } from "../features/storage-violations/feature.ts";
import { swarms } from "../features/swarms/feature.ts";
import { tenantExport } from "../features/tenant-export/feature.ts";
import { tenants } from "../features/tenants/feature.ts";
import { toolServers } from "../features/tool-servers/feature.ts";
import { tools } from "../features/tools/feature.ts";
import { fsTools } from "../features/tools/fs/feature.ts";
import { usageActivities } from "../features/usage/activities/feature.ts";
import { usageReports } from "../features/usage/reports/feature.ts";
import { usageUpkeep } from "../features/usage/upkeep/feature.ts";
import { usageMeters } from "../features/usage-meters/feature.ts";
import { volumes } from "../features/volumes/feature.ts";
import { waitingCalls } from "../features/waiting-calls/feature.ts";
import { webTools } from "../features/web/feature.ts";
import { definitions } from "../features/workflows/definitions/feature.ts";
import { runs } from "../features/workflows/runs/feature.ts";
import { workflowSchedules } from "../features/workflows/schedules/feature.ts";
import { waits } from "../features/workflows/waits/feature.ts";

export const features = [
  // First: what it keeps of a tenant goes last.
  tenants,
  developmentIssuer,
  signIn,
  embeddedIssuer,
  incidents,
  storageViolations,
  audit,
  changes,
  encryption,
  apiKeys,
  mail,
  limits,
  references,
  secrets,
  securityContexts,
  usageActivities,
  invocations,
  pipeline,
  tools,
  fsTools,
  managementTools,
  volumes,
  executionTokens,
  agents,
  cortex,
  executions,
  webTools,
  gateway,
  seal,
  egress,
  models,
  schedules,
  definitions,
  approvals,
  runs,
  workflowSchedules,
  operationTools,
  swarms,
  cluster,
  deadLetters,
  doctor,
  samples,
  sources,
  waits,
  classification,
  intake,
  history,
  dashboard,
  consoleFeature,
  credentials,
  colony,
  billing,
  waitingCalls,
  mcp,
  toolServers,
  edgeKeys,
  edgeCommands,
  edgeHosts,
  edgeEnrollment,
  edgeGroups,
  edgeRunStream,
  edgeLink,
  edgeFleet,
  edgeAgentCalls,
  usageReports,
  usageUpkeep,
  usageMeters,
  tenantExport,
] as const satisfies readonly AnyFeature[];
