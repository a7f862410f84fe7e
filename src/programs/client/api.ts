/** Generated from the API document: `PIN=1 bun test test/pins/openapi.test.ts` writes it. Do not change it by hand. */

export interface paths {
    "/.well-known/jwks.json": {
        get: operations["getWellKnownJwksJson"];
    };
    "/.well-known/oauth-protected-resource/v1/mcp": {
        get: operations["getWellKnownOauthProtectedResourceMcp"];
    };
    "/health": {
        get: operations["getHealth"];
    };
    "/health/live": {
        get: operations["getHealthLive"];
    };
    "/health/ready": {
        get: operations["getHealthReady"];
    };
    "/realms/{realm}/.well-known/openid-configuration": {
        get: operations["getRealmsByRealmWellKnownOpenidConfiguration"];
    };
    "/realms/{realm}/protocol/openid-connect/certs": {
        get: operations["getRealmsByRealmProtocolOpenidConnectCerts"];
    };
    "/realms/{realm}/protocol/openid-connect/token": {
        post: operations["postRealmsByRealmProtocolOpenidConnectToken"];
    };
    "/schemas/agent.json": {
        get: operations["getSchemasAgentJson"];
    };
    "/schemas/workflow.json": {
        get: operations["getSchemasWorkflowJson"];
    };
    "/v1/admin/audit": {
        get: operations["getAdminAudit"];
    };
    "/v1/admin/dead-letters": {
        get: operations["getAdminDeadLetters"];
    };
    "/v1/admin/dead-letters/{id}": {
        get: operations["getAdminDeadLettersById"];
    };
    "/v1/admin/dead-letters/{id}/replay": {
        post: operations["postAdminDeadLettersByIdReplay"];
    };
    "/v1/admin/doctor": {
        get: operations["getAdminDoctor"];
    };
    "/v1/admin/llm/reload": {
        post: operations["postAdminLlmReload"];
    };
    "/v1/admin/llm/test": {
        post: operations["postAdminLlmTest"];
    };
    "/v1/admin/rate-limits/overrides": {
        get: operations["getAdminRateLimitsOverrides"];
        post: operations["postAdminRateLimitsOverrides"];
    };
    "/v1/admin/rate-limits/overrides/{id}": {
        delete: operations["deleteAdminRateLimitsOverridesById"];
    };
    "/v1/admin/rate-limits/usage": {
        get: operations["getAdminRateLimitsUsage"];
    };
    "/v1/admin/tenants": {
        get: operations["getAdminTenants"];
        post: operations["postAdminTenants"];
    };
    "/v1/admin/tenants/{slug}": {
        get: operations["getAdminTenantsBySlug"];
        delete: operations["deleteAdminTenantsBySlug"];
        patch: operations["patchAdminTenantsBySlug"];
    };
    "/v1/admin/tenants/{slug}/export": {
        get: operations["getAdminTenantsBySlugExport"];
    };
    "/v1/admin/tenants/{slug}/restore": {
        post: operations["postAdminTenantsBySlugRestore"];
    };
    "/v1/admin/tenants/{slug}/resume": {
        post: operations["postAdminTenantsBySlugResume"];
    };
    "/v1/admin/tenants/{slug}/suspend": {
        post: operations["postAdminTenantsBySlugSuspend"];
    };
    "/v1/agents": {
        get: operations["getAgents"];
        post: operations["postAgents"];
    };
    "/v1/agents/{id}": {
        get: operations["getAgentsById"];
        delete: operations["deleteAgentsById"];
        patch: operations["patchAgentsById"];
    };
    "/v1/agents/{id}/events": {
        get: operations["getAgentsByIdEvents"];
    };
    "/v1/agents/{id}/execute": {
        post: operations["postAgentsByIdExecute"];
    };
    "/v1/agents/{id}/pause": {
        post: operations["postAgentsByIdPause"];
    };
    "/v1/agents/{id}/resume": {
        post: operations["postAgentsByIdResume"];
    };
    "/v1/agents/{id}/rollback": {
        post: operations["postAgentsByIdRollback"];
    };
    "/v1/agents/{id}/scope": {
        post: operations["postAgentsByIdScope"];
        patch: operations["patchAgentsByIdScope"];
    };
    "/v1/agents/{id}/stream": {
        get: operations["getAgentsByIdStream"];
    };
    "/v1/agents/{id}/versions": {
        get: operations["getAgentsByIdVersions"];
    };
    "/v1/agents/lookup/{name}": {
        get: operations["getAgentsLookupByName"];
    };
    "/v1/api-keys": {
        get: operations["getApiKeys"];
        post: operations["postApiKeys"];
    };
    "/v1/api-keys/{id}": {
        get: operations["getApiKeysById"];
        delete: operations["deleteApiKeysById"];
    };
    "/v1/api-keys/{id}/rotate": {
        post: operations["postApiKeysByIdRotate"];
    };
    "/v1/api-keys/validate": {
        post: operations["postApiKeysValidate"];
    };
    "/v1/approval-links/{token}": {
        get: operations["getApprovalLinksByToken"];
        post: operations["postApprovalLinksByToken"];
    };
    "/v1/audit": {
        get: operations["getAudit"];
    };
    "/v1/auth/config": {
        get: operations["getAuthConfig"];
    };
    "/v1/auth/me": {
        get: operations["getAuthMe"];
    };
    "/v1/billing/change-tier": {
        post: operations["postBillingChangeTier"];
    };
    "/v1/billing/checkout": {
        post: operations["postBillingCheckout"];
    };
    "/v1/billing/invoices": {
        get: operations["getBillingInvoices"];
    };
    "/v1/billing/portal": {
        post: operations["postBillingPortal"];
    };
    "/v1/billing/preview-tier-change": {
        post: operations["postBillingPreviewTierChange"];
    };
    "/v1/billing/prices": {
        get: operations["getBillingPrices"];
    };
    "/v1/billing/seats": {
        post: operations["postBillingSeats"];
    };
    "/v1/billing/subscription": {
        get: operations["getBillingSubscription"];
    };
    "/v1/cluster/nodes": {
        get: operations["getClusterNodes"];
    };
    "/v1/cluster/status": {
        get: operations["getClusterStatus"];
    };
    "/v1/colony/invitations": {
        get: operations["getColonyInvitations"];
        post: operations["postColonyInvitations"];
    };
    "/v1/colony/invitations/{id}": {
        delete: operations["deleteColonyInvitationsById"];
    };
    "/v1/colony/invitations/{token}/accept": {
        post: operations["postColonyInvitationsByTokenAccept"];
    };
    "/v1/colony/invitations/accept": {
        post: operations["postColonyInvitationsAccept"];
    };
    "/v1/colony/members": {
        get: operations["getColonyMembers"];
        post: operations["postColonyMembers"];
    };
    "/v1/colony/members/{id}": {
        delete: operations["deleteColonyMembersById"];
        patch: operations["patchColonyMembersById"];
    };
    "/v1/colony/roles": {
        put: operations["putColonyRoles"];
    };
    "/v1/colony/saml": {
        get: operations["getColonySaml"];
        put: operations["putColonySaml"];
    };
    "/v1/colony/subscription": {
        get: operations["getColonySubscription"];
    };
    "/v1/colony/teams": {
        get: operations["getColonyTeams"];
        post: operations["postColonyTeams"];
    };
    "/v1/colony/teams/{id}": {
        delete: operations["deleteColonyTeamsById"];
    };
    "/v1/cortex/metrics": {
        get: operations["getCortexMetrics"];
    };
    "/v1/cortex/patterns": {
        get: operations["getCortexPatterns"];
    };
    "/v1/cortex/skills": {
        get: operations["getCortexSkills"];
    };
    "/v1/credentials": {
        get: operations["getCredentials"];
    };
    "/v1/credentials/{id}": {
        get: operations["getCredentialsById"];
        delete: operations["deleteCredentialsById"];
    };
    "/v1/credentials/{id}/grants": {
        get: operations["getCredentialsByIdGrants"];
        post: operations["postCredentialsByIdGrants"];
    };
    "/v1/credentials/{id}/grants/{grant_id}": {
        delete: operations["deleteCredentialsByIdGrantsByGrantId"];
    };
    "/v1/credentials/{id}/rotate": {
        post: operations["postCredentialsByIdRotate"];
    };
    "/v1/credentials/api-key": {
        post: operations["postCredentialsApiKey"];
    };
    "/v1/credentials/api-keys": {
        post: operations["postCredentialsApiKeys"];
    };
    "/v1/credentials/device/initiate": {
        post: operations["postCredentialsDeviceInitiate"];
    };
    "/v1/credentials/device/poll": {
        post: operations["postCredentialsDevicePoll"];
    };
    "/v1/credentials/oauth/callback": {
        get: operations["getCredentialsOauthCallback"];
        post: operations["postCredentialsOauthCallback"];
    };
    "/v1/credentials/oauth/device/initiate": {
        post: operations["postCredentialsOauthDeviceInitiate"];
    };
    "/v1/credentials/oauth/device/poll": {
        post: operations["postCredentialsOauthDevicePoll"];
    };
    "/v1/credentials/oauth/initiate": {
        post: operations["postCredentialsOauthInitiate"];
    };
    "/v1/dashboard/summary": {
        get: operations["getDashboardSummary"];
    };
    "/v1/edge/connect": {
        get: operations["getEdgeConnect"];
    };
    "/v1/edge/daemon/enroll": {
        post: operations["postEdgeDaemonEnroll"];
    };
    "/v1/edge/daemon/rotate-key": {
        post: operations["postEdgeDaemonRotateKey"];
    };
    "/v1/edge/enrollment-tokens": {
        get: operations["getEdgeEnrollmentTokens"];
        post: operations["postEdgeEnrollmentTokens"];
    };
    "/v1/edge/enrollment-tokens/{id}": {
        delete: operations["deleteEdgeEnrollmentTokensById"];
    };
    "/v1/edge/fleet/{id}/cancel": {
        post: operations["postEdgeFleetByIdCancel"];
    };
    "/v1/edge/fleet/{id}/pause": {
        post: operations["postEdgeFleetByIdPause"];
    };
    "/v1/edge/fleet/{id}/resume": {
        post: operations["postEdgeFleetByIdResume"];
    };
    "/v1/edge/fleet/{id}/retry": {
        post: operations["postEdgeFleetByIdRetry"];
    };
    "/v1/edge/fleet/invoke": {
        post: operations["postEdgeFleetInvoke"];
    };
    "/v1/edge/fleet/preview": {
        post: operations["postEdgeFleetPreview"];
    };
    "/v1/edge/fleet/runs": {
        get: operations["getEdgeFleetRuns"];
    };
    "/v1/edge/fleet/runs/{id}": {
        get: operations["getEdgeFleetRunsById"];
    };
    "/v1/edge/fleet/runs/{id}/cancel": {
        post: operations["postEdgeFleetRunsByIdCancel"];
    };
    "/v1/edge/fleet/runs/{id}/events": {
        get: operations["getEdgeFleetRunsByIdEvents"];
    };
    "/v1/edge/fleet/runs/{id}/pause": {
        post: operations["postEdgeFleetRunsByIdPause"];
    };
    "/v1/edge/fleet/runs/{id}/resume": {
        post: operations["postEdgeFleetRunsByIdResume"];
    };
    "/v1/edge/fleet/runs/{id}/retry": {
        post: operations["postEdgeFleetRunsByIdRetry"];
    };
    "/v1/edge/fleet/runs/{id}/stream": {
        get: operations["getEdgeFleetRunsByIdStream"];
    };
    "/v1/edge/groups": {
        get: operations["getEdgeGroups"];
        post: operations["postEdgeGroups"];
    };
    "/v1/edge/groups/{id}": {
        get: operations["getEdgeGroupsById"];
        delete: operations["deleteEdgeGroupsById"];
        patch: operations["patchEdgeGroupsById"];
    };
    "/v1/edge/hosts": {
        get: operations["getEdgeHosts"];
    };
    "/v1/edge/hosts/{id}": {
        get: operations["getEdgeHostsById"];
        delete: operations["deleteEdgeHostsById"];
        patch: operations["patchEdgeHostsById"];
    };
    "/v1/edge/hosts/{id}/tags": {
        post: operations["postEdgeHostsByIdTags"];
    };
    "/v1/edge/settings": {
        get: operations["getEdgeSettings"];
        put: operations["putEdgeSettings"];
    };
    "/v1/events": {
        get: operations["getEvents"];
    };
    "/v1/executions": {
        get: operations["getExecutions"];
        post: operations["postExecutions"];
    };
    "/v1/executions/{id}": {
        get: operations["getExecutionsById"];
        delete: operations["deleteExecutionsById"];
    };
    "/v1/executions/{id}/cancel": {
        post: operations["postExecutionsByIdCancel"];
    };
    "/v1/executions/{id}/events": {
        get: operations["getExecutionsByIdEvents"];
    };
    "/v1/executions/{id}/files": {
        get: operations["getExecutionsByIdFiles"];
    };
    "/v1/executions/{id}/files/{path}": {
        get: operations["getExecutionsByIdFilesByPath"];
    };
    "/v1/executions/{id}/iterations": {
        get: operations["getExecutionsByIdIterations"];
    };
    "/v1/executions/{id}/iterations/{number}": {
        get: operations["getExecutionsByIdIterationsByNumber"];
    };
    "/v1/executions/{id}/retry": {
        post: operations["postExecutionsByIdRetry"];
    };
    "/v1/executions/{id}/stream": {
        get: operations["getExecutionsByIdStream"];
    };
    "/v1/human-approvals": {
        get: operations["getHumanApprovals"];
    };
    "/v1/human-approvals/{id}": {
        get: operations["getHumanApprovalsById"];
    };
    "/v1/human-approvals/{id}/approve": {
        post: operations["postHumanApprovalsByIdApprove"];
    };
    "/v1/human-approvals/{id}/arguments": {
        get: operations["getHumanApprovalsByIdArguments"];
    };
    "/v1/human-approvals/{id}/history": {
        get: operations["getHumanApprovalsByIdHistory"];
    };
    "/v1/human-approvals/{id}/links": {
        post: operations["postHumanApprovalsByIdLinks"];
    };
    "/v1/human-approvals/{id}/reject": {
        post: operations["postHumanApprovalsByIdReject"];
    };
    "/v1/human-approvals/history": {
        get: operations["getHumanApprovalsHistory"];
    };
    "/v1/invoke": {
        post: operations["postInvoke"];
    };
    "/v1/mcp": {
        post: operations["postMcp"];
    };
    "/v1/models": {
        get: operations["getModels"];
    };
    "/v1/observability/dashboard": {
        get: operations["getObservabilityDashboard"];
    };
    "/v1/observability/security-incidents": {
        get: operations["getObservabilitySecurityIncidents"];
    };
    "/v1/observability/storage-violations": {
        get: operations["getObservabilityStorageViolations"];
    };
    "/v1/people": {
        get: operations["getPeople"];
        post: operations["postPeople"];
    };
    "/v1/people/{id}": {
        delete: operations["deletePeopleById"];
        patch: operations["patchPeopleById"];
    };
    "/v1/people/{id}/reset": {
        post: operations["postPeopleByIdReset"];
    };
    "/v1/runtimes": {
        get: operations["getRuntimes"];
    };
    "/v1/samples": {
        get: operations["getSamples"];
    };
    "/v1/seal/attest": {
        post: operations["postSealAttest"];
    };
    "/v1/seal/invoke": {
        post: operations["postSealInvoke"];
    };
    "/v1/seal/sessions": {
        get: operations["getSealSessions"];
        post: operations["postSealSessions"];
    };
    "/v1/seal/sessions/{id}": {
        get: operations["getSealSessionsById"];
        delete: operations["deleteSealSessionsById"];
    };
    "/v1/seal/tools": {
        get: operations["getSealTools"];
    };
    "/v1/secrets": {
        get: operations["getSecrets"];
    };
    "/v1/secrets/{path}": {
        get: operations["getSecretsByPath"];
        put: operations["putSecretsByPath"];
        post: operations["postSecretsByPath"];
        delete: operations["deleteSecretsByPath"];
    };
    "/v1/security-contexts": {
        get: operations["getSecurityContexts"];
        post: operations["postSecurityContexts"];
    };
    "/v1/security-contexts/{name}": {
        get: operations["getSecurityContextsByName"];
        put: operations["putSecurityContextsByName"];
        delete: operations["deleteSecurityContextsByName"];
    };
    "/v1/security-contexts/{name}/evaluate": {
        post: operations["postSecurityContextsByNameEvaluate"];
    };
    "/v1/security/incidents": {
        get: operations["getSecurityIncidents"];
    };
    "/v1/stimuli": {
        get: operations["getStimuli"];
        post: operations["postStimuli"];
    };
    "/v1/stimuli/{id}": {
        get: operations["getStimuliById"];
    };
    "/v1/stimuli/{id}/discard": {
        post: operations["postStimuliByIdDiscard"];
    };
    "/v1/stimuli/{id}/replay": {
        post: operations["postStimuliByIdReplay"];
    };
    "/v1/stimuli/dead-letters": {
        get: operations["getStimuliDeadLetters"];
    };
    "/v1/stimuli/dead-letters/replay": {
        post: operations["postStimuliDeadLettersReplay"];
    };
    "/v1/stimulus-routes": {
        get: operations["getStimulusRoutes"];
        post: operations["postStimulusRoutes"];
    };
    "/v1/stimulus-routes/{id}": {
        get: operations["getStimulusRoutesById"];
        put: operations["putStimulusRoutesById"];
        delete: operations["deleteStimulusRoutesById"];
        patch: operations["patchStimulusRoutesById"];
    };
    "/v1/stimulus-routes/{id}/rotate-secret": {
        post: operations["postStimulusRoutesByIdRotateSecret"];
    };
    "/v1/stimulus-routes/router": {
        get: operations["getStimulusRoutesRouter"];
        put: operations["putStimulusRoutesRouter"];
        delete: operations["deleteStimulusRoutesRouter"];
    };
    "/v1/storage/violations": {
        get: operations["getStorageViolations"];
    };
    "/v1/swarms": {
        get: operations["getSwarms"];
    };
    "/v1/swarms/{id}": {
        get: operations["getSwarmsById"];
    };
    "/v1/swarms/{id}/cancel": {
        post: operations["postSwarmsByIdCancel"];
    };
    "/v1/teams": {
        get: operations["getTeams"];
        post: operations["postTeams"];
    };
    "/v1/teams/{id}": {
        delete: operations["deleteTeamsById"];
    };
    "/v1/tool-invocations": {
        get: operations["getToolInvocations"];
    };
    "/v1/tool-invocations/{id}": {
        get: operations["getToolInvocationsById"];
    };
    "/v1/tool-servers": {
        get: operations["getToolServers"];
        post: operations["postToolServers"];
    };
    "/v1/tool-servers/{name}": {
        get: operations["getToolServersByName"];
        delete: operations["deleteToolServersByName"];
        patch: operations["patchToolServersByName"];
    };
    "/v1/tool-servers/{name}/accept": {
        post: operations["postToolServersByNameAccept"];
    };
    "/v1/tool-servers/{name}/logs": {
        get: operations["getToolServersByNameLogs"];
    };
    "/v1/tool-servers/{name}/restart": {
        post: operations["postToolServersByNameRestart"];
    };
    "/v1/tool-servers/{name}/tools": {
        get: operations["getToolServersByNameTools"];
    };
    "/v1/usage": {
        get: operations["getUsage"];
    };
    "/v1/user/rate-limits": {
        get: operations["getUserRateLimits"];
    };
    "/v1/user/rate-limits/usage": {
        get: operations["getUserRateLimitsUsage"];
    };
    "/v1/volumes": {
        get: operations["getVolumes"];
        post: operations["postVolumes"];
    };
    "/v1/volumes/{id}": {
        get: operations["getVolumesById"];
        delete: operations["deleteVolumesById"];
        patch: operations["patchVolumesById"];
    };
    "/v1/volumes/{id}/files": {
        get: operations["getVolumesByIdFiles"];
        delete: operations["deleteVolumesByIdFiles"];
    };
    "/v1/volumes/{id}/files/download": {
        get: operations["getVolumesByIdFilesDownload"];
    };
    "/v1/volumes/{id}/files/mkdir": {
        post: operations["postVolumesByIdFilesMkdir"];
    };
    "/v1/volumes/{id}/files/move": {
        post: operations["postVolumesByIdFilesMove"];
    };
    "/v1/volumes/{id}/files/stat": {
        get: operations["getVolumesByIdFilesStat"];
    };
    "/v1/volumes/{id}/files/upload": {
        post: operations["postVolumesByIdFilesUpload"];
    };
    "/v1/volumes/quota": {
        get: operations["getVolumesQuota"];
    };
    "/v1/webhooks/{source}": {
        post: operations["postWebhooksBySource"];
    };
    "/v1/webhooks/{source}/{route_id}": {
        post: operations["postWebhooksBySourceByRouteId"];
    };
    "/v1/webhooks/stripe": {
        post: operations["postWebhooksStripe"];
    };
    "/v1/workflows": {
        get: operations["getWorkflows"];
        post: operations["postWorkflows"];
    };
    "/v1/workflows/{ref}": {
        get: operations["getWorkflowsByRef"];
        delete: operations["deleteWorkflowsByRef"];
    };
    "/v1/workflows/{ref}/execute": {
        post: operations["postWorkflowsByRefExecute"];
    };
    "/v1/workflows/{ref}/run": {
        post: operations["postWorkflowsByRefRun"];
    };
    "/v1/workflows/{ref}/schedules": {
        get: operations["getWorkflowsByRefSchedules"];
    };
    "/v1/workflows/{ref}/schedules/{id}": {
        get: operations["getWorkflowsByRefSchedulesById"];
    };
    "/v1/workflows/{ref}/schedules/{id}/backfill": {
        post: operations["postWorkflowsByRefSchedulesByIdBackfill"];
    };
    "/v1/workflows/{ref}/schedules/{id}/pause": {
        post: operations["postWorkflowsByRefSchedulesByIdPause"];
    };
    "/v1/workflows/{ref}/schedules/{id}/resume": {
        post: operations["postWorkflowsByRefSchedulesByIdResume"];
    };
    "/v1/workflows/{ref}/schedules/{id}/run": {
        post: operations["postWorkflowsByRefSchedulesByIdRun"];
    };
    "/v1/workflows/{ref}/scope": {
        post: operations["postWorkflowsByRefScope"];
        patch: operations["patchWorkflowsByRefScope"];
    };
    "/v1/workflows/{ref}/versions": {
        get: operations["getWorkflowsByRefVersions"];
    };
    "/v1/workflows/{ref}/versions/{a}/diff/{b}": {
        get: operations["getWorkflowsByRefVersionsByADiffByB"];
    };
    "/v1/workflows/{ref}/yaml": {
        get: operations["getWorkflowsByRefYaml"];
    };
    "/v1/workflows/executions": {
        get: operations["getWorkflowsExecutions"];
    };
    "/v1/workflows/executions/{id}": {
        get: operations["getWorkflowsExecutionsById"];
        delete: operations["deleteWorkflowsExecutionsById"];
    };
    "/v1/workflows/executions/{id}/cancel": {
        post: operations["postWorkflowsExecutionsByIdCancel"];
    };
    "/v1/workflows/executions/{id}/events": {
        get: operations["getWorkflowsExecutionsByIdEvents"];
    };
    "/v1/workflows/executions/{id}/fork": {
        post: operations["postWorkflowsExecutionsByIdFork"];
    };
    "/v1/workflows/executions/{id}/graph": {
        get: operations["getWorkflowsExecutionsByIdGraph"];
    };
    "/v1/workflows/executions/{id}/items": {
        get: operations["getWorkflowsExecutionsByIdItems"];
    };
    "/v1/workflows/executions/{id}/items/{index}/cancel": {
        post: operations["postWorkflowsExecutionsByIdItemsByIndexCancel"];
    };
    "/v1/workflows/executions/{id}/items/{index}/retry": {
        post: operations["postWorkflowsExecutionsByIdItemsByIndexRetry"];
    };
    "/v1/workflows/executions/{id}/logs": {
        get: operations["getWorkflowsExecutionsByIdLogs"];
    };
    "/v1/workflows/executions/{id}/logs/stream": {
        get: operations["getWorkflowsExecutionsByIdLogsStream"];
    };
    "/v1/workflows/executions/{id}/pause": {
        post: operations["postWorkflowsExecutionsByIdPause"];
    };
    "/v1/workflows/executions/{id}/resume": {
        post: operations["postWorkflowsExecutionsByIdResume"];
    };
    "/v1/workflows/executions/{id}/retry": {
        post: operations["postWorkflowsExecutionsByIdRetry"];
    };
    "/v1/workflows/executions/{id}/signal": {
        post: operations["postWorkflowsExecutionsByIdSignal"];
    };
    "/v1/workflows/executions/{id}/stream": {
        get: operations["getWorkflowsExecutionsByIdStream"];
    };
    "/v1/workflows/executions/migrate": {
        post: operations["postWorkflowsExecutionsMigrate"];
    };
    "/v1/workflows/temporal/execute": {
        post: operations["postWorkflowsTemporalExecute"];
    };
    "/v1/workflows/temporal/register": {
        post: operations["postWorkflowsTemporalRegister"];
    };
    "/v1/workflows/validate": {
        post: operations["postWorkflowsValidate"];
    };
}
export interface components {
    schemas: {
        Agent: {
            agent_id: string;
            agent_type: string;
            annotations: {
                [key: string]: string;
            };
            capability_tags: string[];
            created_at: string;
            deployed_at: string;
            description: string | null;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            name: string;
            revision: number;
            scope: "tenant" | "global";
            status: "active" | "paused" | "archived";
            tenant_id: string;
            updated_at: string;
            version: string;
        };
        AgentDeleted: {
            agent_id: string;
            id: string;
            status: "deleted";
            success: true;
        };
        AgentDeployed: {
            agent_id: string;
            created: boolean;
            deployed_at: string;
            id: string;
            name: string;
            revision: number;
            scope: "tenant" | "global";
            status: "active" | "paused" | "archived";
            tenant_id: string;
            version: string;
            warnings: components["schemas"]["AgentWarning"][];
        };
        AgentDetail: {
            agent_id: string;
            agent_type: string;
            annotations: {
                [key: string]: string;
            };
            capability_tags: string[];
            created_at: string;
            deployed_at: string;
            description: string | null;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            manifest: unknown;
            manifest_yaml: string;
            name: string;
            revision: number;
            scope: "tenant" | "global";
            status: "active" | "paused" | "archived";
            tenant_id: string;
            updated_at: string;
            version: string;
        };
        AgentDryRun: {
            action: "create" | "new_version" | "overwrite";
            dry_run: true;
            manifest: unknown;
            name: string;
            valid: true;
            version: string;
            warnings: components["schemas"]["AgentWarning"][];
        };
        AgentManifest: {
            apiVersion: "svc.dev/v1" | "100monkeys.ai/v1";
            environment?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Agent";
            metadata: {
                annotations?: {
                    [key: string]: string;
                } | null | undefined;
                description?: string | null | undefined;
                labels?: {
                    [key: string]: string;
                } | null | undefined;
                name: string;
                tags?: string[] | null | undefined;
                version: string;
            };
            spec: {
                advanced?: {
                    bootstrap_path?: string | null | undefined;
                    health_check?: unknown | undefined;
                    startup_script?: string | null | undefined;
                    swarm_enabled?: boolean | null | undefined;
                    warm_pool_size?: number | null | undefined;
                } | null | undefined;
                context?: components["schemas"]["AgentManifest.ContextItem"][] | null | undefined;
                env?: {
                    [key: string]: string;
                } | null | undefined;
                environment?: {
                    [key: string]: string;
                } | null | undefined;
                execution?: {
                    delivery?: {
                        destinations?: ({
                            condition?: "on_success" | "on_failure" | "always" | null | undefined;
                            headers?: {
                                [key: string]: string;
                            } | null | undefined;
                            method?: "POST" | "PUT" | "PATCH" | null | undefined;
                            name?: string | null | undefined;
                            secret?: string | null | undefined;
                            type: "webhook";
                            url: string;
                        } | {
                            condition?: "on_success" | "on_failure" | "always" | null | undefined;
                            headers?: {
                                [key: string]: string;
                            } | null | undefined;
                            method?: "POST" | "PUT" | "PATCH" | null | undefined;
                            name?: string | null | undefined;
                            secret?: string | null | undefined;
                            type: "rest";
                            url: string;
                        })[] | null | undefined;
                    } | null | undefined;
                    iteration_timeout?: number | string | null | undefined;
                    llm_timeout_seconds?: number | null | undefined;
                    max_iterations?: number | null | undefined;
                    max_retries?: number | null | undefined;
                    max_tokens?: number | null | undefined;
                    memory?: boolean | null | undefined;
                    mode?: "one-shot" | "iterative" | null | undefined;
                    tool_validation?: {
                        criteria: string;
                        judge_agent: string;
                        min_confidence?: number | null | undefined;
                        min_score?: number | null | undefined;
                        timeout_seconds?: number | null | undefined;
                        type?: "semantic" | null | undefined;
                    }[] | null | undefined;
                    validation?: components["schemas"]["AgentManifest.Validator"][] | {
                        output?: {
                            flags?: unknown | undefined;
                            min_confidence?: number | null | undefined;
                            min_score?: number | null | undefined;
                            regex?: string | null | undefined;
                            schema?: Record<string, never> | boolean | null | undefined;
                            schema_path?: unknown | null | undefined;
                            script?: unknown | null | undefined;
                            target?: unknown | undefined;
                            target_path?: unknown | undefined;
                        } | null | undefined;
                        schema_path?: unknown | null | undefined;
                        script?: unknown | null | undefined;
                        semantic?: {
                            criteria?: string | null | undefined;
                            judge_agent: string;
                            min_confidence?: number | null | undefined;
                            min_score?: number | null | undefined;
                            prompt?: unknown | undefined;
                            schema_path?: unknown | null | undefined;
                            script?: unknown | null | undefined;
                            threshold?: number | null | undefined;
                            timeout_seconds?: number | null | undefined;
                        } | null | undefined;
                        system?: {
                            exit_code?: number | null | undefined;
                            min_confidence?: number | null | undefined;
                            min_score?: number | null | undefined;
                            schema_path?: unknown | null | undefined;
                            script?: unknown | null | undefined;
                        } | null | undefined;
                    } | null | undefined;
                } | null | undefined;
                input_schema?: Record<string, never> | boolean | null | undefined;
                output_handler?: ({
                    agent_id: string;
                    input_template?: string | null | undefined;
                    required?: boolean | null | undefined;
                    timeout_seconds?: number | null | undefined;
                    type: "agent";
                } | {
                    body_template?: string | null | undefined;
                    headers?: {
                        [key: string]: string;
                    } | null | undefined;
                    method?: "POST" | "PUT" | "PATCH" | null | undefined;
                    required?: boolean | null | undefined;
                    retry?: {
                        max_attempts?: number | null | undefined;
                    } | null | undefined;
                    timeout_seconds?: number | null | undefined;
                    type: "webhook";
                    url: string;
                }) | null | undefined;
                runtime: {
                    image?: string | null | undefined;
                    image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
                    isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
                    language?: string | null | undefined;
                    model?: string | null | undefined;
                    registry_credentials?: string | null | undefined;
                    temperature?: number | null | undefined;
                    version?: string | null | undefined;
                };
                schedule?: ({
                    cron: string;
                    enabled?: boolean | null | undefined;
                    timezone?: string | null | undefined;
                    type: "cron";
                } | {
                    enabled?: boolean | null | undefined;
                    seconds: number;
                    type: "interval";
                } | {
                    enabled?: boolean | null | undefined;
                    type: "manual";
                }) | null | undefined;
                security?: {
                    filesystem?: {
                        read?: string[] | null | undefined;
                        read_only?: boolean | null | undefined;
                        write?: string[] | null | undefined;
                    } | null | undefined;
                    network?: {
                        allowlist?: string[] | null | undefined;
                        denylist?: string[] | null | undefined;
                        mode?: "none" | "deny" | "allow" | null | undefined;
                    } | null | undefined;
                    resources?: {
                        cpu?: number | string | null | undefined;
                        disk?: number | string | null | undefined;
                        memory?: number | string | null | undefined;
                        timeout?: number | string | null | undefined;
                    } | null | undefined;
                } | null | undefined;
                security_context?: string | null | undefined;
                task: {
                    agentskills?: string[] | null | undefined;
                    input_data?: unknown | undefined;
                    instruction: string;
                    prompt_template?: string | null | undefined;
                };
                tools?: components["schemas"]["AgentManifest.Tool"][] | null | undefined;
                volumes?: components["schemas"]["AgentManifest.Volume"][] | null | undefined;
            };
        };
        "AgentManifest.ContextItem": {
            content: string;
            description?: string | null | undefined;
            type: "text";
        } | {
            description?: string | null | undefined;
            type: "url";
            url: string;
        } | {
            description?: string | null | undefined;
            path: string;
            type: "file";
        } | {
            description?: string | null | undefined;
            path: string;
            type: "directory";
        };
        "AgentManifest.Tool": string | {
            approval?: {
                approvers?: string[] | null | undefined;
                editable?: boolean | null | undefined;
                elicit?: boolean | null | undefined;
                forbid_initiator?: boolean | null | undefined;
                on_timeout?: "reject" | "fail" | null | undefined;
                quorum?: number | null | undefined;
                remember?: "execution" | "tool" | null | undefined;
                timeout_seconds?: number | null | undefined;
                when?: string | null | undefined;
            } | null | undefined;
            name: string;
            skip_judge?: boolean | null | undefined;
        };
        "AgentManifest.Validator": {
            expected?: number | null | undefined;
            min_confidence?: number | null | undefined;
            min_score?: number | null | undefined;
            schema_path?: unknown | null | undefined;
            script?: unknown | null | undefined;
            type: "exit_code";
        } | {
            min_confidence?: number | null | undefined;
            min_score?: number | null | undefined;
            schema: Record<string, never> | boolean;
            schema_path?: unknown | null | undefined;
            script?: unknown | null | undefined;
            target_path?: string | null | undefined;
            type: "json_schema";
        } | {
            flags?: string | null | undefined;
            min_confidence?: number | null | undefined;
            min_score?: number | null | undefined;
            pattern: string;
            schema_path?: unknown | null | undefined;
            script?: unknown | null | undefined;
            target?: "stdout" | "stderr" | null | undefined;
            type: "regex";
        } | {
            criteria: string;
            judge_agent: string;
            min_confidence?: number | null | undefined;
            min_score?: number | null | undefined;
            schema_path?: unknown | null | undefined;
            script?: unknown | null | undefined;
            timeout_seconds?: number | null | undefined;
            type: "semantic";
        } | {
            consensus?: "weighted_average" | "majority" | "unanimous" | "best_of_n" | null | undefined;
            criteria: string;
            judges: (string | {
                agent: string;
                weight?: number | null | undefined;
            })[];
            min_confidence?: number | null | undefined;
            min_judges_required?: number | null | undefined;
            min_score?: number | null | undefined;
            n?: unknown | undefined;
            schema_path?: unknown | null | undefined;
            script?: unknown | null | undefined;
            threshold?: number | null | undefined;
            timeout_seconds?: number | null | undefined;
            type: "multi_judge";
        };
        "AgentManifest.Volume": {
            access_mode?: "read-only" | "read-write" | null | undefined;
            mount_path: string;
            name: string;
            size_limit?: unknown | undefined;
            source?: {
                path?: string | null | undefined;
                volume_id?: string | null | undefined;
            } | null | undefined;
            storage_class?: "ephemeral" | "persistent" | null | undefined;
            ttl_hours?: unknown | undefined;
            type?: string | null | undefined;
        };
        AgentPatched: {
            agent_id: string;
            agent_type: string;
            annotations: {
                [key: string]: string;
            };
            capability_tags: string[];
            created_at: string;
            deployed_at: string;
            description: string | null;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            manifest: unknown;
            manifest_yaml: string;
            name: string;
            revision: number;
            scope: "tenant" | "global";
            status: "active" | "paused" | "archived";
            success: true;
            tenant_id: string;
            updated_at: string;
            version: string;
            warnings: components["schemas"]["AgentWarning"][];
        };
        AgentRollbackRequest: {
            revision?: number | undefined;
            version?: string | undefined;
        };
        AgentScopeChanged: {
            agent_id: string;
            agent_type: string;
            annotations: {
                [key: string]: string;
            };
            capability_tags: string[];
            changed: boolean;
            created_at: string;
            deployed_at: string;
            description: string | null;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            manifest: unknown;
            manifest_yaml: string;
            name: string;
            new_scope: "tenant" | "global";
            previous_scope: "tenant" | "global";
            revision: number;
            scope: "tenant" | "global";
            status: "active" | "paused" | "archived";
            success: true;
            tenant_id: string;
            updated_at: string;
            version: string;
        };
        AgentScopeRequest: {
            scope?: "tenant" | "global" | undefined;
            target_scope?: "tenant" | "global" | undefined;
        };
        AgentStreamEvent: ({
            agent_deployed: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        } | {
            agent_updated: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        } | {
            agent_paused: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        } | {
            agent_resumed: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        } | {
            agent_removed: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        } | {
            agent_scope_changed: {
                agent_id: string;
                name: string;
                occurred_at: string;
                version: string;
            } & {
                [key: string]: unknown;
            };
        }) | components["schemas"]["ExecutionEvent"];
        AgentVersion: {
            agent_id: string;
            created_at: string;
            current: boolean;
            deployed_at: string;
            deployed_by: string;
            id: string;
            manifest_yaml: string;
            name: string;
            revision: number;
            version: string;
        };
        AgentVersions: {
            count: number;
            items: components["schemas"]["AgentVersion"][];
            versions: components["schemas"]["AgentVersion"][];
        };
        AgentWarning: {
            code: string;
            message: string;
            path: string;
        };
        ApiKey: {
            created_at: string;
            expires_at: string | null;
            id: string;
            last_used: string | null;
            last_used_at: string | null;
            last4: string;
            name: string;
            owner_user_id: string;
            parent_key_id: string | null;
            prefix: string;
            previous_expires_at: string | null;
            scopes: string[];
            status: "active" | "revoked" | "expired";
        };
        ApiKeyRotationInput: {
            expires_at?: string | undefined;
            grace_seconds?: number | undefined;
        };
        ApprovalArguments: {
            arguments: unknown;
            arguments_sha256: string;
            tool: string;
        };
        ApprovalCounted: {
            approval_id: string;
            approvals: number;
            quorum: number;
            request_id: string;
            status: "pending";
        };
        ApprovalDecided: {
            approval_id: string;
            decided_at: string;
            request_id: string;
            status: string;
        };
        ApprovalEvent: {
            actor: {
                email: string | null;
                kind: string;
                role: string | null;
                sub: string | null;
            } | null;
            at: string;
            http_request_id: string | null;
            ip: string | null;
            note: string | null;
            sequence: number;
            type: "requested" | "notified" | "reminded" | "escalated" | "link_issued" | "approved" | "rejected" | "responded" | "edited" | "timed_out" | "withdrawn" | "refused";
            user_agent: string | null;
            via: string | null;
        };
        ApprovalLink: {
            expires_at: string;
            url: string;
        };
        ApprovalLinkRequest: {
            recipient: string;
        };
        ApprovalRecord: {
            approvals: number;
            approved_by: string | null;
            approvers: string[];
            created_at: string;
            decided_at: string | null;
            decided_by: {
                email: string | null;
                issued_by?: {
                    email: string | null;
                    kind: string;
                    realm?: string | undefined;
                    sub: string | null;
                } | null | undefined;
                kind: string;
                realm?: string | undefined;
                sub: string | null;
            } | null;
            decision: string | null;
            default_response: string | null;
            escalated_at: string | null;
            events: components["schemas"]["ApprovalEvent"][];
            execution_id: string;
            expires_at: string;
            feedback: string | null;
            fleet_command_id?: string | null | undefined;
            id: string;
            kind: string;
            prompt: string;
            quorum: number;
            reject_on_timeout: boolean;
            rejected_by: string | null;
            required_role: string | null;
            response: string | null;
            state_name: string | null;
            status: "pending" | "approved" | "rejected" | "responded" | "timed_out" | "withdrawn";
            tenant_id: string;
            timeout_seconds: number;
            tool_call?: components["schemas"]["ApprovalToolCall"] | null | undefined;
            via: string | null;
            visit: number | null;
            workflow_execution_id: string | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        ApprovalToolCall: {
            agent_name: string | null;
            arguments: unknown;
            arguments_sha256: string;
            capability_index: number | null;
            editable: boolean;
            edited: boolean;
            executed: boolean | null;
            invocation_id: string;
            iteration_number: number | null;
            model_reason: string | null;
            remember: "none" | "execution" | "tool";
            security_context: string | null;
            tool: string;
            truncated: boolean;
        };
        Approve: {
            approved_by?: string | undefined;
            arguments?: {
                [key: string]: unknown;
            } | undefined;
            arguments_sha256?: string | undefined;
            feedback?: string | undefined;
            remember?: "none" | "execution" | "tool" | undefined;
        };
        Attest: {
            agent_id?: string | undefined;
            agent_public_key?: string | undefined;
            container_id?: string | undefined;
            execution_id?: string | undefined;
            principal_subject?: string | undefined;
            public_key?: string | undefined;
            public_key_pem?: string | undefined;
            security_context?: string | undefined;
            task_summary?: string | undefined;
            tenant_id?: string | undefined;
            user_id?: string | undefined;
            workload_id?: string | undefined;
            zaru_tier?: string | undefined;
        };
        AuditEntry: {
            action: string;
            actor: {
                key_id: string | null;
                kind: string;
                name: string | null;
                realm: string | null;
                role: string | null;
                user_id: string | null;
            };
            at: string;
            details: {
                [key: string]: unknown;
            };
            id: string;
            ip: string | null;
            outcome: "allowed" | "denied" | "failed";
            request_id: string | null;
            target: {
                id: string;
                type: string;
            };
            tenant_id: string;
            user_agent: string | null;
        };
        BillingPrice: {
            amount: number;
            currency: string;
            price_id: string;
        };
        BillingSubscription: {
            billing_interval: ("month" | "year") | null;
            cancel_at_period_end: boolean;
            current_period_end: string | null;
            pending_change: {
                effective_at: string;
                target_tier: "free" | "pro" | "business" | "enterprise";
            } | null;
            seat_count: number;
            status: string;
            stripe_customer_id: string | null;
            stripe_subscription_id: string | null;
            tenant_id: string;
            tier: "free" | "pro" | "business" | "enterprise";
            updated_at: string | null;
        };
        BillingTier: {
            annual: components["schemas"]["BillingPrice"] | null;
            description: string;
            included_seats: number;
            monthly: components["schemas"]["BillingPrice"] | null;
            name: string;
            product_id: string;
            seat_annual: components["schemas"]["BillingPrice"] | null;
            seat_monthly: components["schemas"]["BillingPrice"] | null;
            tier: "pro" | "business" | "enterprise";
        };
        Caller: {
            api_key_id: string | null;
            email: string | null;
            home_tenant: string;
            kind: "consumer" | "operator" | "service_account" | "tenant_user";
            membership: ("owner" | "admin" | "member") | null;
            operator: boolean;
            realm: string;
            role: ("readonly" | "operator" | "admin") | null;
            scopes: string[];
            tenant_id: string;
            tier: ("free" | "pro" | "business" | "enterprise") | null;
            user_id: string;
        };
        CancelExecution: {
            reason?: string | undefined;
        };
        Capability: {
            approval?: components["schemas"]["ToolApproval"] | null | undefined;
            command_allowlist?: string[] | null | undefined;
            domain_allowlist?: string[] | null | undefined;
            max_concurrent?: number | null | undefined;
            max_response_size?: number | null | undefined;
            max_timeout_secs?: number | null | undefined;
            path_allowlist?: string[] | null | undefined;
            rate_limit?: {
                calls: number;
                per_seconds: number;
            } | null | undefined;
            subcommand_allowlist?: ({
                [key: string]: string[];
            } | string[]) | null | undefined;
            tool_pattern: string;
        };
        ChangedSource: {
            acknowledge: "routed" | "received";
            bare_url: boolean;
            created_at: string;
            created_by: {
                kind: string;
                sub: string;
            };
            description: string;
            enabled: boolean;
            events: string[];
            forward_headers: string[];
            generate_secret: false;
            id: string;
            idempotency_fallback: "none" | "body_sha256";
            ignored_count: number;
            last_ignored: {
                at: string;
                event: string | null;
                reason: string;
            } | null;
            last_received_at: string | null;
            match: string | null;
            previous_secret_expires_at: string | null;
            rate_limit_per_minute: number | null;
            replay_guard: boolean;
            require_timestamp: boolean;
            secret?: string | undefined;
            secret_source: "stored" | "env_tenant" | "env" | "none";
            signature: {
                preset: "svc" | "github" | "stripe" | "slack" | "standard_webhooks";
                tolerance_seconds: number;
            };
            source: string;
            tenant_id: string;
            updated_at: string;
            url: string;
            workflow: string | null;
            workflow_version: string | null;
        };
        ChangeEvent: {
            at: string;
            id: string;
            rev: number;
            status: string;
            type: "execution" | "run" | "approval" | "stimulus" | "fleet_run" | "host" | "agent" | "node";
        };
        Checkout: {
            expires_at: string;
            session_id: string;
            url: string;
        };
        ClusterNode: {
            available_memory_gb: number;
            capacity: {
                max_executions: number;
                running_executions: number;
            };
            cpu_cores: number;
            gpu_count: number;
            grpc_address: null;
            hostname: string;
            id: string;
            last_heartbeat: string;
            last_heartbeat_at: string;
            node_id: string;
            registered_at: string;
            role: "api" | "worker" | "hybrid";
            status: "active" | "draining" | "unhealthy";
            supported_runtimes: string[];
            tags: string[];
            version: string;
            vram_gb: number;
        };
        ClusterStatus: {
            active_nodes: number;
            cluster_health: "healthy" | "degraded" | "critical";
            controller_node_id: string;
            draining_nodes: number;
            nodes: components["schemas"]["ClusterNode"][];
            overall_status: "healthy" | "degraded" | "critical";
            source: "cluster_repository" | "local_fallback";
            started_at: string;
            total_nodes: number;
            unhealthy_nodes: number;
            uptime_seconds: number;
        };
        ClusterSummary: {
            active_nodes: number;
            cluster_health: "healthy" | "degraded" | "critical";
            controller_node_id: string;
            draining_nodes: number;
            overall_status: "healthy" | "degraded" | "critical";
            source: "cluster_repository" | "local_fallback";
            started_at: string;
            total_nodes: number;
            unhealthy_nodes: number;
            uptime_seconds: number;
        };
        ColonySubscription: {
            current_period_end: string | null;
            features: string[];
            is_team: boolean;
            members_limit: number | null;
            members_used: number;
            quota_usage: {
                max_agents: {
                    limit: number;
                    used: number;
                };
                max_concurrent_executions: {
                    limit: number;
                    used: number;
                };
                max_storage_gb: {
                    limit: number;
                    used: number;
                };
            };
            seat_count: number;
            status: string;
            tier: "free" | "pro" | "business" | "enterprise";
        };
        ConfiguredRouter: {
            allowed_workflows: string[] | null;
            confidence_threshold: number;
            configured: true;
            router_agent: string;
            router_agent_id: string | null;
            tenant_id: string;
            timeout_seconds: number;
            updated_at: string;
            updated_by: {
                kind: string;
                sub: string;
            };
        };
        CortexMetrics: {
            avg_success_rate: number;
            avgSuccessRate: number;
            generated_at: string;
            metric_type: "all" | "summary" | "patterns" | "skills";
            pattern_count: number;
            skill_count: number;
            solution_count: number;
            total_frequency: number;
            totalFrequency: number;
            totalPatterns: number;
            totalSkills: number;
        };
        CortexPattern: {
            created_at: string;
            error_message: string;
            error_signature: string;
            error_signature_hash: string;
            error_type: string;
            frequency: number;
            id: string;
            last_used_at: string;
            solution: string | null;
            solution_approach: string | null;
            solution_code: string | null;
            success_count: number;
            success_rate: number;
            success_score: number;
            total_count: number;
        };
        CortexSkill: {
            capability_tags: string[];
            category: string;
            description: string;
            id: string;
            level: "basic" | "advanced";
            name: string;
            pattern_count: number;
            patternCount: number;
            success_rate: number;
            successRate: number;
            usage_count: number;
            usageCount: number;
        };
        Credential: {
            created_at: string;
            credential_type: "secret" | "variable" | "service_account" | "oauth2";
            expires_at: string | null;
            grants_count: number;
            id: string;
            label: string | null;
            last_used: string | null;
            last_used_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
            owner_user_id: string;
            provider: string;
            scope: "personal" | "tenant";
            scopes: string[];
            status: "pending_oauth" | "active" | "expired" | "revoked";
            tenant_id: string;
            updated_at: string;
            version: number;
        };
        CredentialDetail: {
            created_at: string;
            credential: components["schemas"]["Credential"];
            credential_type: "secret" | "variable" | "service_account" | "oauth2";
            expires_at: string | null;
            grants_count: number;
            id: string;
            label: string | null;
            last_used: string | null;
            last_used_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
            owner_user_id: string;
            provider: string;
            scope: "personal" | "tenant";
            scopes: string[];
            status: "pending_oauth" | "active" | "expired" | "revoked";
            tenant_id: string;
            updated_at: string;
            version: number;
        };
        CredentialGrant: {
            agent_id: string | null;
            created_at: string;
            created_by: string;
            credential_id: string;
            expires_at: string | null;
            grant_id: string;
            id: string;
            permission_type: "read";
            target: {
                type: "agent" | "workflow" | "all_agents";
                value: string | null;
            };
            workflow_name: string | null;
        };
        CredentialRotated: {
            created_at: string;
            credential_type: "secret" | "variable" | "service_account" | "oauth2";
            expires_at: string | null;
            grants_count: number;
            id: string;
            label: string | null;
            last_used: string | null;
            last_used_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
            owner_user_id: string;
            provider: string;
            rotated: true;
            scope: "personal" | "tenant";
            scopes: string[];
            status: "active";
            tenant_id: string;
            updated_at: string;
            version: number;
        };
        CredentialRotation: {
            new_value?: string | undefined;
            provider_params?: unknown | undefined;
            value?: string | undefined;
        };
        Dashboard: {
            cluster: components["schemas"]["ClusterSummary"] | null;
            execution_count: number;
            executions_by_status: {
                [key: string]: number;
            };
            generated_at: string;
            recent_execution_count: number;
            recent_workflow_execution_count: number;
            security_incident_count: number;
            series: {
                bucket_seconds: 900;
                buckets: {
                    at: string;
                    executions: {
                        [key: string]: number;
                    };
                    runs: {
                        [key: string]: number;
                    };
                }[];
            };
            stimulus_count: number;
            storage_violation_count: number;
            swarm_count: number;
            uptime_seconds: number;
            window_hours: 24;
            workflow_execution_count: number;
        };
        DeadLetter: {
            attempts: number;
            body: unknown;
            created_at: string;
            error: string;
            id: string;
            key: string;
            kind: string;
            message: string;
            replayed_at: string | null;
            tenant_id: string;
        };
        DeletedByName: {
            name: string;
            status: "deleted";
        };
        DeletedByPath: {
            path: string;
            status: "deleted";
        };
        DevelopmentPerson: {
            issuer: string;
            password: string | null;
            title: string;
            username: string;
        };
        DevelopmentSubject: {
            name: string;
            sub: string;
        };
        DeviceConsent: {
            device_code: string;
            expires_at: string;
            interval: number;
            user_code: string;
            verification_uri: string;
            verification_uri_complete: string | null;
        };
        DeviceConsentState: {
            credential_id: string | null;
            interval: number;
            reason: string | null;
            status: "pending" | "approved" | "denied";
        };
        DevicePoll: {
            device_code: string;
            provider: string;
        };
        DiscardStimulus: {
            reason?: string | undefined;
        };
        DoctorCheck: {
            message: string;
            name: string;
            remedy: string | null;
            status: "ok" | "warn" | "fail";
        };
        EdgeEnrollmentToken: {
            expires_at: string;
            id: string;
            issued_at: string;
            issued_by: string;
            name: string | null;
            node_id: string | null;
            redeemed_at: string | null;
            revoked_at: string | null;
            status: "outstanding" | "redeemed" | "expired" | "revoked";
            tags: string[];
            tenant_id: string;
        };
        EdgeGroup: {
            created_at: string;
            created_by: string;
            group_id: string;
            id: string;
            name: string;
            pinned_members: string[];
            resolved_member_count: number;
            selector: components["schemas"]["HostSelector"] | null;
            tenant_id: string;
            updated_at: string;
        };
        EdgeGroupChange: {
            name?: string | undefined;
            pinned_members?: string[] | undefined;
            selector?: unknown | undefined;
        };
        EdgeGroupDetail: {
            created_at: string;
            created_by: string;
            group_id: string;
            id: string;
            name: string;
            pinned_members: string[];
            resolved_member_count: number;
            resolved_members: {
                name: string;
                node_id: string;
                status: "connected" | "unhealthy" | "disconnected";
            }[];
            selector: components["schemas"]["HostSelector"] | null;
            tenant_id: string;
            updated_at: string;
        };
        EdgeHost: {
            accepting: boolean;
            agent_version: string | null;
            arch: string | null;
            boot_id: string | null;
            capabilities: components["schemas"]["EdgeHostCapabilities"];
            connected: boolean;
            connection: {
                epoch: number;
                service_node: string;
                since: string;
            } | null;
            created_by: string;
            enrolled_at: string;
            id: string;
            key_fingerprint: string;
            labels: {
                [key: string]: string;
            };
            last_heartbeat_at: string | null;
            last_seen_at: string | null;
            name: string;
            node_id: string;
            not_accepting: ("daemon" | "held" | "cloned" | "outdated")[];
            os: string | null;
            revoked_at: string | null;
            running: number;
            since: string;
            slots: number | null;
            status: "connected" | "unhealthy" | "disconnected" | "revoked";
            tags: string[];
            tenant_id: string;
        };
        EdgeHostCapabilities: {
            arch: string | null;
            cpu_cores?: number | undefined;
            labels: {
                [key: string]: string;
            };
            local_tools: string[];
            memory_mb?: number | undefined;
            mount_points: string[];
            os: string | null;
            tools: string[];
        };
        EdgeHostChange: {
            accepting?: boolean | undefined;
            add_tags?: string[] | undefined;
            name?: string | undefined;
            remove_tags?: string[] | undefined;
            tags?: string[] | undefined;
        };
        EdgeHostCommand: {
            command_id: string;
            dispatched_at: string | null;
            duration_ms: number | null;
            exit_code: number | null;
            fleet_command_id: string;
            outcome: ("pending" | "dispatched" | "running") | "ok" | "err" | "timed_out" | "cancelled" | "refused" | "lost" | "expired" | "not_started";
            tool: string;
        };
        EdgeHostDetail: {
            accepting: boolean;
            agent_version: string | null;
            arch: string | null;
            boot_id: string | null;
            capabilities: components["schemas"]["EdgeHostCapabilities"];
            connected: boolean;
            connection: {
                epoch: number;
                service_node: string;
                since: string;
            } | null;
            created_by: string;
            enrolled_at: string;
            id: string;
            key_fingerprint: string;
            labels: {
                [key: string]: string;
            };
            last_heartbeat_at: string | null;
            last_seen_at: string | null;
            name: string;
            node_id: string;
            not_accepting: ("daemon" | "held" | "cloned" | "outdated")[];
            os: string | null;
            recent_commands: components["schemas"]["EdgeHostCommand"][];
            revoked_at: string | null;
            running: number;
            since: string;
            slots: number | null;
            status: "connected" | "unhealthy" | "disconnected" | "revoked";
            tags: string[];
            tenant_id: string;
        };
        EdgeHostTagsChange: {
            add?: string[] | undefined;
            remove?: string[] | undefined;
        };
        Error: {
            code: "malformed_body" | "malformed_request" | "subprotocol_required" | "upgrade_required" | "invalid_host" | "invalid_id" | "invalid_agent_id" | "invalid_execution_id" | "invalid_request_id" | "invalid_invocation_id" | "invalid_tenant_slug" | "malformed_signature" | "body_read_error" | "invalid_source" | "missing_authorization" | "invalid_authorization_header" | "invalid_token" | "token_expired" | "invalid_role" | "invalid_tier" | "identity_not_recognized" | "invalid_api_key" | "missing_signature" | "secret_not_found" | "invalid_signature" | "workload_not_verified" | "invalid_request" | "unsupported_grant_type" | "invalid_grant" | "invalid_client" | "realm_not_found" | "quota_exceeded" | "payment_failed" | "no_subscription" | "seats_in_use" | "subscription_exists" | "seat_price_mismatch" | "seats_not_available" | "stale_preview" | "tier_mismatch" | "unknown_price" | "url_not_allowed" | "payment_provider_error" | "payment_provider_timeout" | "insufficient_scope" | "operator_required" | "user_identity_required" | "tenant_suspended" | "tenant_deleted" | "tenant_protected" | "tenant_delegation_forbidden" | "not_a_team_member" | "global_scope_forbidden" | "security_context_forbidden" | "execution_not_yours" | "tenant_mismatch" | "approver_not_allowed" | "self_approval_forbidden" | "route_disabled" | "origin_forbidden" | "tier_not_permitted" | "not_found" | "tenant_not_found" | "agent_not_found" | "agent_version_not_found" | "execution_not_found" | "session_not_found" | "iteration_not_found" | "path_not_found" | "volume_not_found" | "tool_server_not_found" | "dead_letter_not_found" | "workflow_not_found" | "workflow_execution_not_found" | "schedule_not_found" | "item_not_found" | "swarm_not_found" | "approval_not_found" | "invocation_not_found" | "webhook_endpoint_not_found" | "route_not_found" | "stimulus_not_found" | "method_not_allowed" | "body_too_large" | "file_too_large" | "uri_too_long" | "unsupported_media_type" | "range_not_satisfiable" | "misdirected_request" | "headers_too_large" | "agent_version_exists" | "tool_server_exists" | "tool_server_in_file" | "agent_paused" | "agent_archived" | "already_current" | "agent_name_conflict" | "execution_already_terminal" | "destination_exists" | "volume_attached" | "volume_label_taken" | "workflow_version_exists" | "workflow_in_use" | "workflow_name_taken" | "approval_already_decided" | "no_open_approval" | "invalid_state" | "nothing_to_retry" | "not_recorded" | "wait_on_ancestor" | "idempotent_duplicate" | "ambiguous_webhook_route" | "route_exists" | "stimulus_in_progress" | "stimulus_already_routed" | "stimulus_discarded" | "not_a_dead_letter" | "already_replayed" | "workspace_expired" | "link_expired" | "validation_failed" | "arguments_changed" | "arguments_not_editable" | "invalid_arguments" | "remember_not_allowed" | "invalid_manifest" | "unsupported_field" | "unsupported_api_version" | "unsupported_runtime" | "unsupported_isolation" | "unqualified_image" | "image_not_allowed" | "reserved_env" | "invalid_schema" | "bootstrap_path_forbidden" | "unsupported_volume_type" | "volume_type_forbidden" | "open_egress_forbidden" | "invalid_host_pattern" | "unsupported_output_handler" | "unsupported_destination" | "immutable_field" | "invalid_template" | "unsafe_template_position" | "idempotency_key_reused" | "input_validation_failed" | "unknown_model_alias" | "unknown_tool" | "runtime_unavailable" | "unknown_security_context" | "invalid_public_key" | "invalid_attachment" | "attachments_not_declared" | "invalid_path" | "is_a_directory" | "invalid_volume" | "missing_file" | "judge_not_found" | "reserved_override_key" | "template_error" | "depth_exceeded" | "too_many_descendants" | "too_many_ceilings" | "invalid_input" | "invalid_blackboard" | "reserved_blackboard_key" | "unknown_state" | "reserved_source" | "unknown_workflow" | "no_router_configured" | "classification_failed" | "classification_parse_error" | "router_agent_failed" | "rate_limited" | "too_many_streams" | "too_many_children" | "too_many_checks" | "signal_buffer_full" | "agent_mismatch" | "dispatch_not_found" | "execution_not_running" | "iteration_not_current" | "loop_not_active" | "dispatch_result_conflict" | "tool_round_limit" | "dispatch_expired" | "unknown_message_type" | "upstream_rate_limit" | "llm_quota_exceeded" | "upstream_authentication" | "upstream_model_not_found" | "upstream_invalid_input" | "upstream_provider" | "upstream_network" | "upstream_unavailable" | "upstream_timeout" | "internal_error" | "execution_start_failed" | "workflow_start_failed" | "workflow_error" | "decryption_failed" | "not_configured" | "service_unavailable" | "limiter_unavailable" | "stimulus_service_unavailable" | "backlog_full" | "mailbox_full" | "identity_provider_unavailable" | "timed_out" | "tenant_exists" | "reserved_slug" | "tenant_purged" | "override_not_found" | "api_key_not_found" | "unknown_scope" | "scope_not_grantable" | "version_conflict" | "secret_forbidden" | "secrets_unavailable" | "credential_not_found" | "credential_not_granted" | "credential_forbidden" | "credential_revoked" | "not_credential_owner" | "redirect_uri_not_allowed" | "provider_not_configured" | "oauth_not_configured" | "oauth_denied" | "oauth_exchange_failed" | "state_expired" | "device_code_not_found" | "security_context_not_found" | "context_exists" | "context_in_use" | "version_mismatch" | "colony_suspended" | "personal_tier_too_low" | "seat_cap_reached" | "team_context_required" | "membership_revoked" | "owner_only" | "identity_kind_not_allowed" | "email_required" | "email_mismatch" | "already_member" | "owner_role_immutable" | "ambiguous_user" | "invalid_invitation" | "invitation_expired" | "invitation_not_pending" | "entity_id_taken" | "admin_required" | "agent_runs_denied" | "policy_violation" | "fleet_run_not_found" | "dispatch_disabled" | "multiple_targets" | "invalid_enrollment_token" | "invalid_proof" | "not_a_team_admin" | "host_not_found" | "group_not_found" | "enrollment_token_not_found" | "conflict" | "key_in_use" | "token_redeemed" | "enrollment_token_expired" | "enrollment_token_revoked" | "cortex_not_configured" | "issuer_not_configured" | "person_exists" | "person_not_found" | "billing_not_configured" | "webhook_not_configured" | "signature_expired" | "tenant_not_billable";
            error: string;
            issues?: {
                code: string;
                message: string;
                path: string;
            }[] | undefined;
            request_id: string;
        };
        EvaluateCall: {
            arguments?: {
                [key: string]: unknown;
            } | undefined;
            execution_id?: string | undefined;
            tool_name: string;
        };
        Execution: {
            agent_id: string;
            agent_name: string;
            agent_revision: number;
            agent_version: string;
            context_ceilings: string[];
            created_at: string;
            current_iteration: number;
            deadline_at: string | null;
            ended_at: string | null;
            error: string | null;
            error_code: string | null;
            execution_id: string;
            hierarchy: {
                depth: number;
                parent_execution_id: string | null;
                path: string[];
                swarm_id: string | null;
            };
            id: string;
            initiating_user_sub: string | null;
            intent: string | null;
            labels: {
                [key: string]: string;
            };
            max_iterations: number;
            mode: "one-shot" | "iterative";
            retry_of: string | null;
            runtime: {
                egress_enforced: boolean | null;
                image: string | null;
                isolation: string;
                sandbox: string | null;
            };
            security_context: string | null;
            started_at: string;
            starter: components["schemas"]["Starter"] | null;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            summary: string;
            tenant_id: string;
            timeout_seconds: number;
            total_iterations: number;
            trigger: "api" | "tool" | "workflow" | "schedule" | "stimulus" | "validator" | "output_handler";
            usage: {
                cost_usd: number;
                input_tokens: number;
                llm_calls: number;
                output_tokens: number;
                tool_calls: number;
            };
            volumes: {
                access_mode: string;
                mount_path: string;
                name: string;
                volume_id: string;
            }[];
            waiting_for: {
                approval_id: string;
                expires_at: string;
                kind: "tool_call";
                tool: string;
            } | null;
            warnings: {
                code: string;
                message: string;
            }[];
            workflow_execution_id: string | null;
            workflow_name: string | null;
        };
        ExecutionCancelled: {
            cancelled_at: string;
            execution_id: string;
            reason: string | null;
            status: "cancelled";
            success: true;
        };
        ExecutionDeleted: {
            execution_id: string;
            status: "deleted";
            success: true;
        };
        ExecutionEvent: {
            execution_started: {
                agent_id: string;
                execution_id: string;
                started_at: string;
            };
        } | {
            iteration_started: {
                action: string;
                agent_id: string;
                execution_id: string;
                iteration_number: number;
                started_at: string;
            };
        } | {
            iteration_completed: {
                agent_id: string;
                completed_at: string;
                execution_id: string;
                iteration_number: number;
                output: string;
            };
        } | {
            iteration_rejected: {
                agent_id: string;
                confidence: number;
                execution_id: string;
                feedback: string | null;
                iteration_number: number;
                rejected_at: string;
                score: number;
                validator: string;
            };
        } | {
            iteration_failed: {
                agent_id: string;
                error: {
                    code: string;
                    details: unknown;
                    message: string;
                };
                execution_id: string;
                failed_at: string;
                iteration_number: number;
            };
        } | {
            iteration_restarted: {
                agent_id: string;
                attempt: number;
                execution_id: string;
                iteration_number: number;
                reason: string;
                restarted_at: string;
            };
        } | {
            refinement_applied: {
                agent_id: string;
                applied_at: string;
                code_diff: {
                    [key: string]: unknown;
                };
                execution_id: string;
                feedback: string;
                iteration_number: number;
            };
        } | {
            console_output: {
                agent_id: string;
                call_id: string | null;
                content: string;
                execution_id: string;
                iteration_number: number;
                stream: "stdout" | "stderr";
                timestamp: string;
                truncated?: true | undefined;
            };
        } | {
            llm_interaction: {
                agent_id: string;
                execution_id: string;
                input_tokens: number;
                iteration_number: number;
                model: string;
                output_tokens: number;
                prompt: string | null;
                provider: string;
                response: string | null;
                timestamp: string;
            };
        } | {
            llm_call_failed: {
                agent_id: string;
                attempts: number;
                elapsed_ms: number;
                error_class: string;
                execution_id: string;
                fallback_attempted: boolean;
                iteration_number: number;
                message: string;
                model: string;
                provider: string;
                timestamp: string;
            };
        } | {
            rate_limit_warning: {
                agent_id: string;
                bucket: string;
                execution_id: string;
                limit: number;
                resource_type: string;
                scope_type: string;
                timestamp: string;
            };
        } | {
            tool_call_started: {
                agent_id: string;
                arguments?: unknown | undefined;
                call_id: string;
                execution_id: string;
                iteration_number: number;
                started_at: string;
                tool_name: string;
            };
        } | {
            tool_call_completed: {
                agent_id: string;
                call_id: string;
                completed_at: string;
                duration_ms: number;
                execution_id: string;
                exit_code: number | null;
                iteration_number: number;
                result?: unknown | undefined;
                status: "succeeded" | "failed" | "refused" | "timed_out";
                tool_name: string;
            };
        } | {
            tool_call_waiting: {
                agent_id: string;
                approval_id: string | null;
                at: string;
                call_id: string;
                code: string | null;
                execution_id: string;
                iteration_number: number;
                tool_name: string;
            };
        } | {
            tool_call_approved: {
                agent_id: string;
                approval_id: string | null;
                at: string;
                call_id: string;
                code: string | null;
                execution_id: string;
                iteration_number: number;
                tool_name: string;
            };
        } | {
            tool_call_rejected: {
                agent_id: string;
                approval_id: string | null;
                at: string;
                call_id: string;
                code: string | null;
                execution_id: string;
                iteration_number: number;
                tool_name: string;
            };
        } | {
            tool_call_withdrawn: {
                agent_id: string;
                approval_id: string | null;
                at: string;
                call_id: string;
                code: string | null;
                execution_id: string;
                iteration_number: number;
                tool_name: string;
            };
        } | {
            policy_violation: {
                agent_id: string;
                blocked_at: string;
                details: unknown;
                execution_id: string;
                iteration_number: number;
                tool_name: string;
                violation_type: string;
            };
        } | {
            execution_warning: {
                agent_id: string;
                at: string;
                code: string;
                execution_id: string;
                message: string;
            };
        } | {
            egress_blocked: {
                agent_id: string;
                blocked_at: string;
                execution_id: string;
                host: string;
                iteration_number: number;
                port: number;
                reason: string;
            };
        } | {
            image_pull_started: {
                agent_id: string;
                execution_id: string;
                image: string;
                timestamp: string;
            };
        } | {
            image_pull_completed: {
                agent_id: string;
                duration_ms: number;
                execution_id: string;
                image: string;
                timestamp: string;
            };
        } | {
            image_pull_failed: {
                agent_id: string;
                error: string;
                execution_id: string;
                image: string;
                timestamp: string;
            };
        } | {
            instance_spawned: {
                agent_id: string;
                execution_id: string;
                instance_id: string;
                iteration_number: number;
                spawned_at: string;
            };
        } | {
            instance_terminated: {
                agent_id: string;
                execution_id: string;
                exit_code: number | null;
                instance_id: string;
                iteration_number: number;
                terminated_at: string;
            };
        } | {
            gradient_validation_performed: {
                agent_id: string;
                confidence: number;
                execution_id: string;
                iteration_number: number;
                score: number;
                validated_at: string;
                validator: string;
            };
        } | {
            child_execution_spawned: {
                agent_id: string;
                child_agent_id: string;
                child_execution_id: string;
                execution_id: string;
                parent_execution_id: string;
                spawned_at: string;
            };
        } | {
            child_execution_completed: {
                agent_id: string;
                child_execution_id: string;
                completed_at: string;
                execution_id: string;
                outcome: string;
            };
        } | {
            multi_judge_consensus: {
                agent_id: string;
                confidence: number;
                execution_id: string;
                final_score: number;
                iteration_number: number;
                judge_scores: [
                    string,
                    number
                ][];
                reached_at: string;
            };
        } | {
            output_handler_started: {
                agent_id: string;
                execution_id: string;
                handler_type: string;
                timestamp: string;
            };
        } | {
            output_handler_completed: {
                agent_id: string;
                execution_id: string;
                handler_type: string;
                result: string;
                timestamp: string;
            };
        } | {
            output_handler_failed: {
                agent_id: string;
                error: string;
                execution_id: string;
                handler_type: string;
                timestamp: string;
            };
        } | {
            execution_completed: {
                agent_id: string;
                completed_at: string;
                execution_id: string;
                final_output: string;
                total_iterations: number;
            };
        } | {
            execution_failed: {
                agent_id: string;
                error_code: string;
                execution_id: string;
                failed_at: string;
                reason: string;
                total_iterations: number;
            };
        } | {
            execution_cancelled: {
                agent_id: string;
                cancelled_at: string;
                execution_id: string;
                reason: string | null;
            };
        } | {
            execution_timed_out: {
                agent_id: string;
                execution_id: string;
                timed_out_at: string;
                timeout_seconds: number;
                total_iterations: number;
            };
        };
        ExecutionRecord: {
            agent_id: string;
            agent_name: string;
            agent_revision: number;
            agent_version: string;
            attachments: unknown[];
            context_ceilings: string[];
            context_overrides: unknown;
            created_at: string;
            current_iteration: number;
            deadline_at: string | null;
            ended_at: string | null;
            error: string | null;
            error_code: string | null;
            execution_id: string;
            final_output: string | null;
            hierarchy: {
                depth: number;
                parent_execution_id: string | null;
                path: string[];
                swarm_id: string | null;
            };
            id: string;
            initiating_user_sub: string | null;
            input: unknown;
            intent: string | null;
            iterations: components["schemas"]["IterationRecord"][];
            labels: {
                [key: string]: string;
            };
            max_iterations: number;
            mode: "one-shot" | "iterative";
            output: string | null;
            raw_output: string | null;
            retry_of: string | null;
            runtime: {
                egress_enforced: boolean | null;
                image: string | null;
                isolation: string;
                sandbox: string | null;
            };
            security_context: string | null;
            started_at: string;
            starter: components["schemas"]["Starter"] | null;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            summary: string;
            tenant_id: string;
            timeout_seconds: number;
            total_iterations: number;
            trigger: "api" | "tool" | "workflow" | "schedule" | "stimulus" | "validator" | "output_handler";
            usage: {
                cost_usd: number;
                input_tokens: number;
                llm_calls: number;
                output_tokens: number;
                tool_calls: number;
            };
            volumes: {
                access_mode: string;
                mount_path: string;
                name: string;
                volume_id: string;
            }[];
            waiting_for: {
                approval_id: string;
                expires_at: string;
                kind: "tool_call";
                tool: string;
            } | null;
            warnings: {
                code: string;
                message: string;
            }[];
            workflow_execution_id: string | null;
            workflow_name: string | null;
        };
        ExecutionRetried: {
            agent_id: string;
            agent_version: string;
            created_at: string;
            execution_id: string;
            id: string;
            output: string | null;
            retry_of: string;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
        };
        ExecutionStarted: {
            agent_id: string;
            agent_version: string;
            created_at: string;
            execution_id: string;
            id: string;
            output: string | null;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
        };
        FileEntry: {
            is_dir: boolean;
            mime_type: string | null;
            modified_at: string;
            name: string;
            path: string;
            sha256: string | null;
            size_bytes: number;
            type: "file" | "dir";
        };
        FileUploaded: {
            mime_type: string;
            name: string;
            path: string;
            sha256: string;
            size: number;
            size_bytes: number;
            uploaded_at: string;
            volume_id: string;
        };
        FleetPreview: {
            count: number;
            queued: {
                name: string;
                node_id: string;
            }[];
            requires_approval: boolean;
            resolved: {
                name: string;
                node_id: string;
                status: string;
            }[];
            skipped: components["schemas"]["SkippedHost"][];
            waves: string[][];
        };
        FleetRun: {
            approval_id: string | null;
            created_at: string;
            ended_at: string | null;
            fleet_command_id: string;
            id: string;
            outcome: "running" | "complete" | "halted" | "cancelled";
            pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
            policy: components["schemas"]["FleetRunPolicy"];
            reason: (("cancelled" | "approval_rejected" | "approval_timed_out" | "no_targets" | "min_targets_unmet" | "failure_threshold" | "canary_failed" | "run_deadline") | ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")) | null;
            requested_by: components["schemas"]["FleetRunRequester"];
            retry_of: string | null;
            security_context_name: string | null;
            skipped: components["schemas"]["SkippedHost"][];
            started_at: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            summary: components["schemas"]["FleetRunSummary"];
            target: components["schemas"]["FleetRunTarget"];
            targets_resolved: number;
            targets_skipped: number;
            tenant_id: string;
            tool: string;
        };
        FleetRunAccepted: {
            fleet_command_id: string;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            stream_url: string;
            targets_resolved: number;
            targets_skipped: number;
        };
        FleetRunAttempt: {
            attempt: number;
            command_id: string;
            dispatched_at: string | null;
            duration_ms: number | null;
            ended_at: string | null;
            error_kind: string | null;
            error_message: string | null;
            exit_code: number | null;
            reason: string | null;
            started_at: string | null;
            status: string;
        };
        FleetRunCancelled: {
            already_terminal: number;
            cancelled: number;
            fleet_command_id: string;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
        };
        FleetRunDetail: {
            approval_id: string | null;
            args: {
                [key: string]: unknown;
            };
            created_at: string;
            ended_at: string | null;
            fleet_command_id: string;
            id: string;
            next_cursor: string | null;
            outcome: "running" | "complete" | "halted" | "cancelled";
            pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
            per_node: components["schemas"]["FleetRunHost"][];
            policy: components["schemas"]["FleetRunPolicy"];
            reason: (("cancelled" | "approval_rejected" | "approval_timed_out" | "no_targets" | "min_targets_unmet" | "failure_threshold" | "canary_failed" | "run_deadline") | ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")) | null;
            requested_by: components["schemas"]["FleetRunRequester"];
            retry_of: string | null;
            security_context_name: string | null;
            skipped: components["schemas"]["SkippedHost"][];
            started_at: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            summary: components["schemas"]["FleetRunSummary"];
            target: components["schemas"]["FleetRunTarget"];
            targets_resolved: number;
            targets_skipped: number;
            tenant_id: string;
            tool: string;
            waves: {
                canary: number;
                hosts: number;
                size: number;
            };
        };
        FleetRunEvent: {
            fleet_command_id: string;
            queued: {
                name: string;
                node_id: string;
            }[];
            resolved: {
                name: string;
                node_id: string;
                status: string;
            }[];
            skipped: components["schemas"]["SkippedHost"][];
            started_at: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            targets_resolved: number;
            targets_skipped: number;
            tool: string;
        } | {
            approval_id: string | null;
            fleet_command_id: string;
            pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
            reason: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            wave: number;
            waves: number;
        } | {
            chunk: {
                stdout: string;
            } | {
                stderr: string;
            } | {
                status: "dispatched" | "running" | "cancelling";
            };
            command_id: string;
            gap_bytes?: number | undefined;
            node_id: string;
            offset?: number | undefined;
        } | {
            attempt: number;
            command_id: string;
            name: string;
            node_id: string;
            result: {
                ok: {
                    duration_ms: number | null;
                    exit_code: number | null;
                };
            } | {
                err: {
                    code: string;
                    exit_code: number | null;
                    message: string;
                };
            } | {
                timed_out: {
                    deadline: string | null;
                };
            } | {
                cancelled: {
                    reason: string;
                };
            };
            status: string;
            stderr_tail: string;
            stdout_tail: string;
            structured: unknown;
        } | {
            code: string;
            fleet_command_id: string;
            message: string;
            reason: string;
        } | {
            fleet_command_id: string;
            outcome: "running" | "complete" | "halted" | "cancelled";
            reason: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            summary: components["schemas"]["FleetRunSummary"];
            targets_resolved: number;
            targets_skipped: number;
        };
        FleetRunHost: {
            attempt: number;
            command_id: string;
            dispatched_at: string | null;
            duration_ms: number | null;
            ended_at: string | null;
            error_kind: string | null;
            error_message: string | null;
            exit_code: number | null;
            late: boolean;
            name: string;
            node_id: string;
            outcome: string;
            previous_attempts: components["schemas"]["FleetRunAttempt"][];
            reason: string | null;
            started_at: string | null;
            status: string;
            stderr_bytes: number | null;
            stderr_tail: string | null;
            stdout_bytes: number | null;
            stdout_tail: string | null;
            structured: unknown;
            truncated: boolean | null;
            wave: number | null;
        };
        FleetRunPolicy: {
            approval: boolean;
            approval_timeout_secs: number;
            canary: (number | string) | null;
            canary_soak_secs: number;
            disconnect_grace_secs: number;
            failure_policy: "FailFast" | "ContinueOnError" | {
                StopAfter: number;
            } | {
                StopAfterPercent: number;
            };
            max_concurrency: number | null;
            max_output_bytes: number;
            mode: "Sequential" | "Parallel" | {
                Rolling: {
                    batch: number | string;
                };
            };
            offline_ttl_secs: number;
            pause_after_canary: boolean;
            per_target_deadline_secs: number;
            require_min_targets: number | null;
            retries: number;
            retry_delay_secs: number;
            retry_on: ("err" | "timed_out" | "refused" | "lost" | "expired")[];
            run_deadline_secs: number | null;
        };
        FleetRunRequester: {
            entry: "api" | "seal" | "dispatch" | "mcp" | "workflow";
            execution_id: string | null;
            sub: string;
            tenant_id: string;
        };
        FleetRunStanding: {
            fleet_command_id: string;
            pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
        };
        FleetRunSummary: {
            cancelled: number;
            err: number;
            expired: number;
            failed: number;
            in_progress: number;
            lost: number;
            not_started: number;
            ok: number;
            refused: number;
            timed_out: number;
        };
        FleetRunTarget: {
            Node: string;
        } | {
            Nodes: string[];
        } | {
            Group: string;
        } | {
            Selector: components["schemas"]["HostSelector"];
        } | {
            All: null;
        };
        FleetSettings: {
            agent_runs: "approve" | "allow" | "deny";
            approve_above: number | null;
            approve_all: boolean;
            dispatch_enabled: boolean;
            self_approval: boolean;
        };
        FleetSettingsChange: {
            agent_runs?: "approve" | "allow" | "deny" | undefined;
            approve_above?: number | null | undefined;
            approve_all?: boolean | undefined;
            dispatch_enabled?: boolean | undefined;
            self_approval?: boolean | undefined;
        };
        ForkWorkflow: {
            blackboard_patch?: unknown | undefined;
            from_state: string;
            from_visit?: number | undefined;
        };
        HostSelector: {
            arch: string | null;
            labels: ({
                Equals: {
                    [key: string]: string;
                };
            } | {
                Exists: string;
            } | {
                In: {
                    [key: string]: string[];
                };
            })[];
            os: string | null;
            tags: ({
                Has: string;
            } | {
                AnyOf: string[];
            } | {
                AllOf: string[];
            } | {
                NoneOf: string[];
            })[];
            tools: string[];
        };
        Invitation: {
            created_at: string;
            expires_at: string;
            id: string;
            invitee_email: string;
            role: "admin" | "member";
            status: "pending" | "accepted" | "cancelled" | "replaced" | "expired";
            team_id: string;
        };
        InvitedPerson: {
            accept_url: string | null;
            created_at: string;
            email: string;
            email_verified: boolean;
            id: string;
            last_sign_in_at: string | null;
            name: string | null;
            realm: string;
            role: string | null;
            status: "invited" | "active" | "locked" | "disabled";
            totp: boolean;
            user_id: string;
        };
        Invoice: {
            amount: number;
            amount_due: number;
            amount_paid: number;
            created: string;
            currency: string;
            hosted_invoice_url: string | null;
            id: string;
            pdf_url: string | null;
            status: string | null;
        };
        IssuedApiKey: {
            api_key: string;
            created_at: string;
            expires_at: string | null;
            id: string;
            key: string;
            key_value: string;
            last_used: string | null;
            last_used_at: string | null;
            last4: string;
            name: string;
            owner_user_id: string;
            parent_key_id: string | null;
            prefix: string;
            previous_expires_at: string | null;
            scopes: string[];
            status: "active" | "revoked" | "expired";
        };
        IssuedEdgeEnrollmentToken: {
            command_hint: string;
            controller_endpoint: string;
            controller_url: string;
            expires_at: string;
            id: string;
            name: string | null;
            qr_payload: string;
            tags: string[];
            tenant_id: string;
            token: string;
        };
        IssuedInvitation: {
            expires_at: string;
            id: string;
            invitee_email: string;
            role: "admin" | "member";
            status: "pending" | "accepted" | "cancelled" | "replaced" | "expired";
            team_id: string;
            token: string;
        };
        IterationRecord: {
            action: string;
            attempt: number;
            code_changes: {
                diff: string;
                file_path: string;
            }[];
            ended_at: string | null;
            error: {
                code: string;
                details: unknown;
                message: string;
            } | null;
            exit_code: number | null;
            llm_interactions: {
                input_tokens: number;
                model: string;
                output_tokens: number;
                prompt: string | null;
                provider: string;
                response: string | null;
                timestamp: string;
            }[];
            number: number;
            output: string | null;
            policy_violations: string[];
            started_at: string;
            status: "running" | "success" | "rejected" | "failed" | "cancelled";
            stderr: string;
            trajectory: {
                arguments_json: string;
                error: string | null;
                result_json: string | null;
                status: "pending" | "waiting" | "dispatched" | "succeeded" | "failed" | "refused" | "timed_out";
                tool_name: string;
            }[];
            validation_results: {
                confidence: number;
                details: unknown;
                feedback: string | null;
                min_confidence: number;
                min_score: number;
                passed: boolean;
                score: number;
                type: string;
                validator: string;
            }[];
        };
        LinkDecision: {
            arguments_sha256?: string | undefined;
            decision: "approve" | "reject";
            feedback?: string | undefined;
            reason?: string | undefined;
        };
        MakeDirectory: {
            path?: string | undefined;
        };
        McpEvent: {
            error?: unknown | undefined;
            id?: string | number | undefined;
            jsonrpc: "2.0";
            method?: string | undefined;
            params?: unknown | undefined;
            result?: unknown | undefined;
        };
        Member: {
            email: string;
            id: string;
            invited_at: string | null;
            joined_at: string | null;
            membership_id: string | null;
            name: string | null;
            realm: string | null;
            role: "owner" | "admin" | "member";
            status: "active" | "invited" | "revoked";
            user_id: string;
        };
        MemberInvited: {
            accept_url: string;
            email: string;
            expires_at: string;
            id: string;
            invited_at: string | null;
            joined_at: string | null;
            membership_id: string | null;
            name: string | null;
            realm: string | null;
            role: "owner" | "admin" | "member";
            status: "active" | "invited" | "revoked";
            token: string;
            user_id: string;
        };
        MigrateWorkflows: {
            filter?: {
                current_state?: string | undefined;
                execution_ids?: string[] | undefined;
                started_before?: string | undefined;
            } | undefined;
            to_version: string;
            workflow: string;
        };
        Models: {
            count: number;
            items: {
                alias: string;
                capabilities: string[];
                context_window: number | null;
                max_output_tokens: number;
            }[];
        };
        MoveFileInput: {
            destination?: string | undefined;
            from?: string | undefined;
            overwrite?: boolean | undefined;
            source?: string | undefined;
            to?: string | undefined;
        };
        NewApiKey: {
            expires_at?: string | undefined;
            name: string;
            scopes?: string[] | undefined;
        };
        NewApiKeyCredential: {
            api_key?: string | undefined;
            api_key_value?: string | undefined;
            credential_type?: "secret" | "variable" | "service_account" | undefined;
            expires_at?: string | undefined;
            label?: string | undefined;
            metadata?: {
                [key: string]: unknown;
            } | undefined;
            provider: string;
            scope?: string | undefined;
            value?: string | undefined;
        };
        NewCapability: {
            approval?: components["schemas"]["NewToolApproval"] | null | undefined;
            command_allowlist?: string[] | null | undefined;
            domain_allowlist?: string[] | null | undefined;
            max_concurrent?: number | null | undefined;
            max_response_size?: number | null | undefined;
            max_timeout_secs?: number | null | undefined;
            path_allowlist?: string[] | null | undefined;
            rate_limit?: {
                calls: number;
                per_seconds: number;
            } | null | undefined;
            subcommand_allowlist?: ({
                [key: string]: string[];
            } | string[]) | null | undefined;
            tool_pattern: string;
        };
        NewCheckout: {
            cancel_url?: string | undefined;
            price_id: string;
            seat_price_id?: string | undefined;
            seats?: number | undefined;
            success_url?: string | undefined;
            tier?: string | undefined;
        };
        NewCredentialGrant: {
            agent_id?: string | undefined;
            expires_at?: string | undefined;
            permission_type?: "read" | "use" | undefined;
            target_type?: "agent" | "workflow" | "all_agents" | undefined;
            target_value?: string | undefined;
            workflow_name?: string | undefined;
        };
        NewDeviceConsent: {
            label?: string | undefined;
            provider: string;
            scopes?: string[] | undefined;
        };
        NewEdgeGroup: {
            name: string;
            pinned_members?: string[] | undefined;
            selector?: unknown | undefined;
        };
        NewFleetPreview: {
            policy?: unknown | undefined;
            target: unknown;
        };
        NewFleetRun: {
            args?: {
                [key: string]: unknown;
            } | undefined;
            policy?: unknown | undefined;
            security_context_name?: string | null | undefined;
            target: unknown;
            tool?: string | undefined;
            tool_name?: string | undefined;
        };
        NewInvitation: {
            email?: string | undefined;
            invitee_email?: string | undefined;
            role?: "admin" | "member" | undefined;
        };
        NewMember: {
            email: string;
            role?: "admin" | "member" | undefined;
        };
        NewMemberRole: {
            role: "owner" | "admin" | "member";
        };
        NewOAuthConsent: {
            label?: string | undefined;
            provider: string;
            redirect_uri?: string | undefined;
            scope?: string | undefined;
            scopes?: string[] | undefined;
        };
        NewPerson: {
            email: string;
            name?: string | undefined;
            role?: "admin" | "operator" | "readonly" | undefined;
        };
        NewRateOverride: {
            bucket: string;
            burst_value?: number | undefined;
            limit_value: number;
            realm?: string | undefined;
            resource_type: string;
            tenant_id?: string | undefined;
            user_id?: string | undefined;
        };
        NewSaml: {
            certificate: string;
            entity_id: string;
            sso_url: string;
        };
        NewSealSession: {
            allowed_tool_patterns?: string[] | null | undefined;
            execution_id: string;
            public_key_b64: string;
            security_context_name?: string | undefined;
            sub?: string | undefined;
        };
        NewSeats: {
            extra_seats: number;
            seat_price_id?: string | undefined;
        };
        NewSecret: {
            data?: {
                [key: string]: string;
            } | undefined;
            encoding?: "plaintext" | "base64" | undefined;
            value?: string | undefined;
        };
        NewSecurityContext: {
            capabilities?: components["schemas"]["NewCapability"][] | undefined;
            deny_list?: string[] | undefined;
            description?: string | null | undefined;
            name: string;
            usable_by?: string[] | null | undefined;
        };
        NewSource: {
            acknowledge?: "routed" | "received" | undefined;
            description?: string | undefined;
            enabled?: boolean | undefined;
            events?: string[] | undefined;
            forward_headers?: string[] | undefined;
            generate_secret?: boolean | undefined;
            idempotency_fallback?: "none" | "body_sha256" | undefined;
            match?: string | null | undefined;
            rate_limit_per_minute?: number | null | undefined;
            replay_guard?: boolean | undefined;
            require_timestamp?: boolean | undefined;
            secret?: (string) | null | undefined;
            signature?: ("svc" | "github" | "stripe" | "slack" | "standard_webhooks") | components["schemas"]["Signature"] | undefined;
            source: string;
            workflow?: string | null | undefined;
            workflow_version?: string | null | undefined;
        };
        NewStimulus: {
            content: unknown;
            idempotency_key?: string | null | undefined;
            source: string;
        };
        NewTeam: {
            display_name: string;
            tier?: "business" | "enterprise" | undefined;
        };
        NewTenant: {
            display_name: string;
            idp_realm?: string | undefined;
            owner_email?: string | undefined;
            quotas?: {
                max_agents?: number | undefined;
                max_concurrent_executions?: number | undefined;
                max_storage_gb?: number | undefined;
            } | undefined;
            slug: string;
            tier?: "free" | "pro" | "business" | "enterprise" | undefined;
            vault_namespace?: string | undefined;
        };
        NewTier: {
            billing_interval?: "month" | "year" | undefined;
            proration_date?: number | undefined;
            seats?: number | undefined;
            target_tier: "free" | "pro" | "business" | "enterprise";
        };
        NewToolApproval: {
            approvers?: string[] | undefined;
            editable?: boolean | undefined;
            elicit?: boolean | undefined;
            forbid_initiator?: boolean | undefined;
            on_timeout?: "reject" | "fail" | undefined;
            quorum?: number | undefined;
            remember?: ("execution" | "tool") | null | undefined;
            timeout_seconds?: number | undefined;
            when?: string | null | undefined;
        };
        NewToolServer: {
            args?: string[] | undefined;
            call_timeout_seconds?: number | undefined;
            capabilities?: {
                name: string;
                skip_judge?: boolean | undefined;
            }[] | null | undefined;
            credentials?: {
                [key: string]: string;
            } | undefined;
            definitions?: "pinned" | "follow" | undefined;
            egress?: string[] | undefined;
            enabled?: boolean | undefined;
            environment?: {
                [key: string]: string;
            } | undefined;
            executable?: string | null | undefined;
            health_check?: {
                interval_seconds?: number | undefined;
                timeout_seconds?: number | undefined;
            } | undefined;
            max_concurrent?: number | undefined;
            name: string;
            resource_limits?: {
                cpu_millicores?: number | undefined;
                memory_mb?: number | undefined;
            } | undefined;
            tenant_id?: string | null | undefined;
            transport?: "stdio" | "streamable_http" | undefined;
            url?: string | null | undefined;
        };
        NewVolume: {
            label: string;
            size_limit_bytes?: number | undefined;
            visibility?: "private" | "tenant" | undefined;
        };
        OAuthCallback: {
            code?: string | undefined;
            error?: string | undefined;
            iss?: string | undefined;
            state: string;
        };
        OAuthCompleted: {
            credential_id: string;
            id: string;
            provider: string;
            status: "active";
            stored: true;
        };
        OAuthConsent: {
            auth_url: string;
            authorization_url: string;
            credential_id: string;
            expires_at: string;
            state: string;
            state_token: string;
        };
        PendingApproval: {
            approvals: number;
            approvers: string[];
            created_at: string;
            default_response: string | null;
            execution_id: string;
            expires_at: string;
            fleet_command_id?: string | null | undefined;
            id: string;
            kind: string;
            prompt: string;
            quorum: number;
            reject_on_timeout: boolean;
            required_role: string | null;
            state_name: string | null;
            status: "pending" | "approved" | "rejected" | "responded" | "timed_out" | "withdrawn";
            tenant_id: string;
            timeout_seconds: number;
            tool_call?: components["schemas"]["ApprovalToolCall"] | null | undefined;
            visit: number | null;
            workflow_execution_id: string | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        Person: {
            created_at: string;
            email: string;
            email_verified: boolean;
            id: string;
            last_sign_in_at: string | null;
            name: string | null;
            realm: string;
            role: string | null;
            status: "invited" | "active" | "locked" | "disabled";
            totp: boolean;
            user_id: string;
        };
        PersonChange: {
            name?: string | undefined;
            role?: "admin" | "operator" | "readonly" | undefined;
            status?: "active" | "disabled" | undefined;
            unlock?: boolean | undefined;
        };
        PersonReset: {
            totp?: boolean | undefined;
        };
        RateOverride: {
            bucket: string;
            burst_value: number | null;
            created_at: string;
            created_by: {
                kind: string;
                realm: string | null;
                user_id: string | null;
            };
            id: string;
            limit_value: number;
            realm: string | null;
            resource_type: string;
            tenant_id: string | null;
            updated_at: string;
            user_id: string | null;
        };
        RateUsage: {
            bucket: string;
            counter: number;
            limit_value: number;
            resource_type: string;
            scope_id: string;
            scope_type: "tenant" | "user";
            window_start: string;
        };
        Reject: {
            reason: string;
            rejected_by?: string | undefined;
        };
        ReplayReceived: {
            replay_of: string;
            status: "received";
            stimulus_id: string;
            workflow_execution_id: null;
        };
        ReplayStimuli: {
            ids: string[];
        };
        ReplayStimulus: {
            content?: unknown;
            force?: boolean | undefined;
            workflow?: string | undefined;
            workflow_version?: string | undefined;
        };
        RetryExecution: {
            input?: unknown | undefined;
            version?: string | undefined;
        };
        RetryFleetRun: {
            policy?: unknown | undefined;
            statuses?: unknown | undefined;
        };
        RetryWorkflow: {
            from_state?: string | undefined;
        };
        RoleOfMember: {
            role: "owner" | "admin" | "member";
            user_id: string;
        };
        Router: components["schemas"]["ConfiguredRouter"] | {
            configured: false;
        };
        RouterDeleted: {
            status: "deleted";
            success: true;
        };
        RouterRequest: {
            allowed_workflows?: string[] | null | undefined;
            classification_confidence_threshold?: number | undefined;
            classification_timeout_secs?: number | undefined;
            confidence_threshold?: number | undefined;
            router_agent?: string | undefined;
            router_agent_id?: string | undefined;
            timeout_seconds?: number | undefined;
        };
        RunItem: {
            attempts: number;
            error: string | null;
            execution_id: string | null;
            index: number;
            result: unknown;
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
        };
        Runtimes: {
            count: number;
            items: {
                deprecated: boolean;
                description: string;
                image: string;
                language: string;
                version: string;
            }[];
        };
        Saml: {
            certificate: string;
            certificate_valid: boolean;
            configured: boolean;
            entity_id: string;
            provisioning: "none" | "manual" | "pending" | "applied" | "failed";
            sso_url: string;
            updated_at: string | null;
        };
        Sample: {
            description: string;
            id: string;
            kind: "agent" | "workflow" | "webhook";
            manifests: {
                kind: "agent" | "workflow";
                name: string;
                yaml: string;
            }[];
            requests: {
                body: unknown;
                method: string;
                path: string;
                summary: string;
            }[];
            title: string;
        };
        SealAttestation: {
            agent_id: string;
            execution_id: string;
            expires_at: string;
            protocol: "seal/v1";
            security_context: string;
            security_token: string;
            session_id: string;
            status: "success";
            tenant_id: string;
        };
        SealCall: {
            payload: {
                id: string | number;
                jsonrpc: "2.0";
                method: string;
                params?: {
                    [key: string]: unknown;
                } | undefined;
            };
            protocol: "seal/v1";
            security_token: string;
            signature: string;
            timestamp: string | number;
        };
        SealCallAnswer: {
            id: string | number;
            jsonrpc: "2.0";
            payload: {
                id: string | number;
                jsonrpc: "2.0";
                result: {
                    [key: string]: unknown;
                };
            };
            protocol: "seal/v1";
            result: {
                [key: string]: unknown;
            };
            status: "success";
        };
        SealSession: {
            agent_id: string;
            allowed_tool_patterns: string[] | null;
            calls: number;
            container_id: string | null;
            created_at: string;
            detached: boolean;
            execution_id: string;
            expires_at: string;
            instance_id: string | null;
            last_used_at: string | null;
            opened_by: {
                key_id: string | null;
                kind: string;
                user_id: string;
            } | null;
            public_key_fingerprint: string;
            revoked_at: string | null;
            revoked_reason: string | null;
            security_context: string;
            session_id: string;
            session_status: "active" | "expired" | "revoked";
            status: "active" | "expired" | "revoked";
            tenant_id: string;
            workload_id: string | null;
        };
        SealSessionDetail: {
            agent_id: string;
            allowed_tool_patterns: string[] | null;
            calls: number;
            container_id: string | null;
            created_at: string;
            detached: boolean;
            execution_id: string;
            expires_at: string;
            instance_id: string | null;
            last_used_at: string | null;
            opened_by: {
                key_id: string | null;
                kind: string;
                user_id: string;
            } | null;
            public_key_fingerprint: string;
            revoked_at: string | null;
            revoked_reason: string | null;
            security_context: string;
            session_id: string;
            session_status: "active" | "expired" | "revoked";
            sessions: components["schemas"]["SealSession"][];
            status: "active" | "expired" | "revoked";
            tenant_id: string;
            workload_id: string | null;
        };
        SealSessionOpened: {
            agent_id: string;
            execution_id: string;
            expires_at: string;
            protocol: "seal/v1";
            security_context: string;
            security_token: string;
            session_id: string;
            session_status: "active";
            status: "success";
            tenant_id: string;
        };
        SeatsChanged: {
            extra_seats: number;
            seat_count: number;
            subscription: components["schemas"]["BillingSubscription"];
            success: true;
        };
        Secret: {
            created_at: string;
            data: {
                [key: string]: string;
            } | null;
            encoding: "plaintext" | "base64";
            fields: string[];
            name: string;
            path: string;
            updated_at: string;
            value: string;
            version: number;
        };
        SecretEntry: {
            last_modified: string | null;
            name: string;
            size_bytes: number | null;
            version: number | null;
        };
        SecretRotated: {
            id: string;
            previous_secret_expires_at: string | null;
            secret?: string | undefined;
        };
        SecretRotation: {
            previous_valid_seconds?: number | undefined;
            secret?: string | undefined;
        };
        SecretWritten: {
            created_at: string;
            path: string;
            status: "written";
            updated_at: string;
            version: number;
        };
        SecurityContext: {
            capabilities: components["schemas"]["Capability"][];
            deny_list: string[];
            description: string | null;
            metadata: {
                created_at: string | null;
                updated_at: string | null;
                updated_by: string | null;
                version: number;
            };
            name: string;
            tenant_id: string;
            usable_by: string[] | null;
        };
        SecurityContextChange: {
            capabilities?: components["schemas"]["NewCapability"][] | undefined;
            deny_list?: string[] | undefined;
            description?: string | null | undefined;
            name?: string | undefined;
            usable_by?: string[] | null | undefined;
        };
        SecurityContextVerdict: {
            allowed: boolean;
            approval: boolean;
            capability_index: number | null;
            code: string | null;
            constraint: string | null;
            context_version: number;
            decided_by: string | null;
            details: {
                [key: string]: unknown;
            };
            error_code: number | null;
            message: string;
            remaining: number | null;
            violation_type: string | null;
        };
        SecurityIncident: {
            agent_id: string | null;
            category: string;
            count: number;
            created_at: string;
            details: unknown;
            execution_id: string | null;
            id: string;
            last_seen_at: string;
            occurred_at: string;
            session_id: string | null;
            severity: string;
            tenant_id: string;
            tool_name: string | null;
            type: string;
            violation_type: string | null;
        };
        ServerLogLine: {
            at: string;
            line: string;
            node_id: string;
        };
        ServerTool: {
            accepted: {
                annotations: {
                    destructiveHint: boolean;
                    idempotentHint: boolean;
                    openWorldHint: boolean;
                    readOnlyHint: boolean;
                };
                description: string;
                input_schema: {
                    [key: string]: unknown;
                };
                output_schema: {
                    [key: string]: unknown;
                } | null;
            } | null;
            annotations: {
                destructiveHint: boolean;
                idempotentHint: boolean;
                openWorldHint: boolean;
                readOnlyHint: boolean;
            };
            description: string;
            input_schema: {
                [key: string]: unknown;
            };
            inputSchema: {
                [key: string]: unknown;
            };
            is_new: boolean;
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            } | undefined;
            skip_judge: boolean;
            withheld: boolean;
        };
        SignalWorkflow: {
            payload?: unknown | undefined;
            response?: string | undefined;
            signal_name?: string | undefined;
        };
        Signature: {
            preset: "svc" | "github" | "stripe" | "slack" | "standard_webhooks";
            tolerance_seconds?: number | undefined;
        };
        SignInConfig: {
            cli_client_id: string;
            client_id: string;
            device: boolean;
            issuer: string;
            password: boolean;
            people?: components["schemas"]["DevelopmentPerson"][] | undefined;
            scopes: string[];
            subjects?: components["schemas"]["DevelopmentSubject"][] | undefined;
        };
        SkippedHost: {
            name: string;
            node_id: string;
            reason: "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";
        };
        Source: {
            acknowledge: "routed" | "received";
            bare_url: boolean;
            created_at: string;
            created_by: {
                kind: string;
                sub: string;
            };
            description: string;
            enabled: boolean;
            events: string[];
            forward_headers: string[];
            generate_secret: false;
            id: string;
            idempotency_fallback: "none" | "body_sha256";
            ignored_count: number;
            last_ignored: {
                at: string;
                event: string | null;
                reason: string;
            } | null;
            last_received_at: string | null;
            match: string | null;
            previous_secret_expires_at: string | null;
            rate_limit_per_minute: number | null;
            replay_guard: boolean;
            require_timestamp: boolean;
            secret_source: "stored" | "env_tenant" | "env" | "none";
            signature: {
                preset: "svc" | "github" | "stripe" | "slack" | "standard_webhooks";
                tolerance_seconds: number;
            };
            source: string;
            tenant_id: string;
            updated_at: string;
            url: string;
            workflow: string | null;
            workflow_version: string | null;
        };
        SourceChange: {
            acknowledge?: "routed" | "received" | undefined;
            description?: string | undefined;
            enabled?: boolean | undefined;
            events?: string[] | undefined;
            forward_headers?: string[] | undefined;
            generate_secret?: boolean | undefined;
            idempotency_fallback?: "none" | "body_sha256" | undefined;
            match?: string | null | undefined;
            rate_limit_per_minute?: number | null | undefined;
            replay_guard?: boolean | undefined;
            require_timestamp?: boolean | undefined;
            secret?: (string) | null | undefined;
            signature?: ("svc" | "github" | "stripe" | "slack" | "standard_webhooks") | components["schemas"]["Signature"] | undefined;
            source?: string | undefined;
            workflow?: string | null | undefined;
            workflow_version?: string | null | undefined;
        };
        SourceDeleted: {
            id: string;
            status: "deleted";
            success: true;
        };
        Starter: {
            key_id: string | null;
            kind: "consumer" | "operator" | "service_account" | "tenant_user";
            membership: ("owner" | "admin" | "member") | null;
            realm: string;
            role: ("readonly" | "operator" | "admin") | null;
            scopes: string[];
            sub: string;
        };
        StartExecution: {
            agent_id?: unknown | undefined;
            attachments?: unknown[] | undefined;
            context_overrides?: unknown | undefined;
            input: unknown;
            intent?: string | undefined;
            labels?: {
                [key: string]: string;
            } | undefined;
            max_iterations?: number | undefined;
            max_tokens?: number | undefined;
            security_context?: string | undefined;
            security_context_name?: string | undefined;
            timeout_seconds?: number | undefined;
            version?: string | undefined;
            wait_seconds?: number | undefined;
        };
        StartNamedExecution: {
            agent_id: unknown;
            attachments?: unknown[] | undefined;
            context_overrides?: unknown | undefined;
            input: unknown;
            intent?: string | undefined;
            labels?: {
                [key: string]: string;
            } | undefined;
            max_iterations?: number | undefined;
            max_tokens?: number | undefined;
            security_context?: string | undefined;
            security_context_name?: string | undefined;
            timeout_seconds?: number | undefined;
            version?: string | undefined;
            wait_seconds?: number | undefined;
        };
        StartNamedWorkflow: {
            attachments?: unknown[] | undefined;
            blackboard?: unknown | undefined;
            context_overrides?: unknown | undefined;
            input?: unknown | undefined;
            intent?: string | undefined;
            security_context_name?: string | undefined;
            timeout?: number | undefined;
            timeout_seconds?: number | undefined;
            version?: string | undefined;
            workflow_id?: string | undefined;
            workflow_name?: string | undefined;
        };
        StartWorkflow: {
            attachments?: unknown[] | undefined;
            blackboard?: unknown | undefined;
            context_overrides?: unknown | undefined;
            input?: unknown | undefined;
            intent?: string | undefined;
            security_context_name?: string | undefined;
            timeout?: number | undefined;
            timeout_seconds?: number | undefined;
            version?: string | undefined;
        };
        StimuliReplayed: {
            failed: number;
            results: {
                code: string | null;
                id: string;
                stimulus_id: string | null;
                workflow_execution_id: string | null;
            }[];
            succeeded: number;
        };
        Stimulus: {
            attempts: number;
            channel: string;
            classification: string | null;
            classification_detail: components["schemas"]["StimulusClassification"] | null;
            classification_error: string | null;
            confidence: number | null;
            content: string;
            content_encoding: string;
            content_sha256: string;
            content_size: number;
            content_truncated: boolean;
            content_type: string | null;
            created_at: string;
            dead_letter: boolean;
            discard_reason: string | null;
            discarded_at: string | null;
            discarded_by: {
                kind: string;
                sub: string;
            } | null;
            duplicate_count: number;
            error_code: string | null;
            error_details: {
                [key: string]: unknown;
            } | null;
            error_message: string | null;
            headers: {
                [key: string]: string;
            };
            headers_truncated: boolean;
            id: string;
            idempotency_key: string | null;
            last_event_at: string;
            received_at: string;
            received_by: {
                kind: string;
                sub: string;
            };
            rejection_reason: string | null;
            replay_of: string | null;
            replayed_by: string | null;
            route_id: string | null;
            routing_mode: ("deterministic" | "llm_classified" | "override") | null;
            source: string;
            status: "received" | "classified" | "rejected" | "classification_failed" | "start_failed" | "discarded";
            stimulus_id: string;
            taken_by: string[];
            tenant_id: string;
            workflow_execution_id: string | null;
            workflow_id: string | null;
        };
        StimulusClassification: {
            confidence: number | null;
            reasoning: string | null;
            router_agent_id: string | null;
            router_execution_id: string | null;
            routing_mode: "deterministic" | "llm_classified" | "override";
            threshold: number | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        StimulusDetail: {
            attempts: number;
            channel: string;
            classification: string | null;
            classification_detail: components["schemas"]["StimulusClassification"] | null;
            classification_error: string | null;
            confidence: number | null;
            content: string;
            content_encoding: string;
            content_sha256: string;
            content_size: number;
            content_truncated: boolean;
            content_type: string | null;
            created_at: string;
            dead_letter: boolean;
            discard_reason: string | null;
            discarded_at: string | null;
            discarded_by: {
                kind: string;
                sub: string;
            } | null;
            duplicate_count: number;
            error_code: string | null;
            error_details: {
                [key: string]: unknown;
            } | null;
            error_message: string | null;
            headers: {
                [key: string]: string;
            };
            headers_truncated: boolean;
            id: string;
            idempotency_key: string | null;
            last_event_at: string;
            received_at: string;
            received_by: {
                kind: string;
                sub: string;
            };
            rejection_reason: string | null;
            replay_of: string | null;
            replayed_by: string | null;
            route_id: string | null;
            routing_mode: ("deterministic" | "llm_classified" | "override") | null;
            source: string;
            status: "received" | "classified" | "rejected" | "classification_failed" | "start_failed" | "discarded";
            stimulus: components["schemas"]["Stimulus"];
            stimulus_id: string;
            taken_by: string[];
            tenant_id: string;
            workflow_execution_id: string | null;
            workflow_id: string | null;
        };
        StimulusElement: {
            attempts: number;
            channel: string;
            classification: string | null;
            classification_detail: components["schemas"]["StimulusClassification"] | null;
            classification_error: string | null;
            confidence: number | null;
            content: string;
            content_encoding: string;
            content_sha256: string;
            content_size: number;
            content_truncated: boolean;
            content_type: string | null;
            created_at: string;
            dead_letter: boolean;
            discard_reason: string | null;
            discarded_at: string | null;
            discarded_by: {
                kind: string;
                sub: string;
            } | null;
            duplicate_count: number;
            error_code: string | null;
            error_details: {
                [key: string]: unknown;
            } | null;
            error_message: string | null;
            headers_truncated: boolean;
            id: string;
            idempotency_key: string | null;
            last_event_at: string;
            received_at: string;
            received_by: {
                kind: string;
                sub: string;
            };
            rejection_reason: string | null;
            replay_of: string | null;
            replayed_by: string | null;
            route_id: string | null;
            routing_mode: ("deterministic" | "llm_classified" | "override") | null;
            source: string;
            status: "received" | "classified" | "rejected" | "classification_failed" | "start_failed" | "discarded";
            stimulus_id: string;
            taken_by: string[];
            tenant_id: string;
            workflow_execution_id: string | null;
            workflow_id: string | null;
        };
        StimulusIgnored: {
            event: string | null;
            message: string;
            reason: "event" | "match" | "match_failed";
            status: "ignored";
            stimulus_id: null;
            workflow_execution_id: null;
        };
        StimulusReceived: {
            status: "received";
            stimulus_id: string;
            workflow_execution_id: null;
        };
        StimulusReplayed: {
            confidence: number | null;
            replay_of: string;
            routing_mode: ("deterministic" | "llm_classified" | "override") | null;
            status: "classified";
            stimulus_id: string;
            taken_by: string[];
            workflow_execution_id: string | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        StimulusRouted: {
            confidence: number | null;
            routing_mode: ("deterministic" | "llm_classified" | "override") | null;
            status: "classified";
            stimulus_id: string;
            taken_by: string[];
            workflow_execution_id: string | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        StorageQuota: {
            max_file_size_bytes: number;
            max_volumes: number;
            quota_bytes: number;
            tier: string;
            total_bytes_used: number;
            total_storage_bytes: number;
            used_bytes: number;
            volume_count: number;
            volume_limit: number;
        };
        StorageViolation: {
            category: string;
            created_at: string;
            details: unknown;
            execution_id: string | null;
            id: string;
            occurred_at: string;
            operation: string;
            path: string | null;
            severity: string;
            tenant_id: string;
            type: string;
            volume_id: string | null;
        };
        Swarm: {
            created_at: string;
            dissolved_at: string | null;
            id: string;
            lock_count: number;
            member_count: number;
            member_ids: string[];
            parent_execution_id: string;
            recent_message_count: number;
            status: "active" | "dissolving" | "dissolved";
            swarm_id: string;
            tenant_id: string;
        };
        SwarmDetail: {
            created_at: string;
            dissolved_at: string | null;
            id: string;
            lock_count: number;
            locks: {
                acquired_at: string;
                expires_at: string;
                held_by: string;
                resource_id: string;
            }[];
            member_count: number;
            member_ids: string[];
            parent_execution_id: string;
            recent_message_count: number;
            recent_messages: {
                from: string;
                payload_bytes: number;
                sent_at: string;
                to: string;
            }[];
            status: "active" | "dissolving" | "dissolved";
            swarm: {
                created_at: string;
                dissolved_at: string | null;
                id: string;
                lock_count: number;
                locks: {
                    acquired_at: string;
                    expires_at: string;
                    held_by: string;
                    resource_id: string;
                }[];
                member_count: number;
                member_ids: string[];
                parent_execution_id: string;
                recent_message_count: number;
                recent_messages: {
                    from: string;
                    payload_bytes: number;
                    sent_at: string;
                    to: string;
                }[];
                status: "active" | "dissolving" | "dissolved";
                swarm_id: string;
                tenant_id: string;
            };
            swarm_id: string;
            tenant_id: string;
        };
        Team: {
            created_at: string;
            display_name: string;
            id: string;
            member_count: number;
            role: ("owner" | "admin" | "member") | null;
            slug: string;
            status: "active" | "suspended" | "plan_suspended";
            tenant_id: string;
            tier: "free" | "pro" | "business" | "enterprise";
        };
        TeamMade: {
            created_at: string;
            display_name: string;
            id: string;
            member_count: number;
            role: ("owner" | "admin" | "member") | null;
            slug: string;
            status: "active" | "suspended" | "plan_suspended";
            team: components["schemas"]["Team"];
            tenant_id: string;
            tier: "free" | "pro" | "business" | "enterprise";
        };
        Tenant: {
            created_at: string;
            deleted_at: string | null;
            display_name: string;
            idp_realm: string;
            keycloak_realm: string;
            kind: "system" | "consumer" | "team" | "enterprise";
            openbao_namespace: string;
            owner_email: string | null;
            purge_at: string | null;
            quotas: {
                max_agents: number;
                max_concurrent_executions: number;
                max_storage_gb: number;
            };
            slug: string;
            status: "active" | "suspended" | "deleted";
            suspend_reason: string | null;
            suspended_at: string | null;
            tier: "free" | "pro" | "business" | "enterprise" | "system";
            tier_source: "admin" | "subscription" | "claim" | "default";
            updated_at: string;
            vault_namespace: string;
        };
        TenantChange: {
            display_name?: string | undefined;
            owner_email?: string | null | undefined;
            quotas?: {
                max_agents?: number | null | undefined;
                max_concurrent_executions?: number | null | undefined;
                max_storage_gb?: number | null | undefined;
            } | undefined;
            tier?: ("free" | "pro" | "business" | "enterprise") | null | undefined;
        };
        TenantSuspension: {
            reason?: string | undefined;
        };
        TierChanged: {
            action: "upgrade_immediate" | "downgrade_at_period_end" | "cancel_at_period_end" | "no_change";
            effective_at: string | null;
            proration_amount_cents: number;
            proration_invoice_id: string | null;
            seats: number;
            subscription: components["schemas"]["BillingSubscription"];
            target_tier: "free" | "pro" | "business" | "enterprise";
        };
        TierPreview: {
            action: "upgrade_immediate" | "downgrade_at_period_end" | "cancel_at_period_end" | "no_change";
            currency: string;
            effective_at: string | null;
            next_renewal_amount_cents: number;
            proration_amount_cents: number;
            proration_date: number;
            seats: number;
            target_tier: "free" | "pro" | "business" | "enterprise";
        };
        TierWish: {
            billing_interval?: "month" | "year" | undefined;
            seats?: number | undefined;
            target_tier: "free" | "pro" | "business" | "enterprise";
        };
        Tool: {
            aliases: string[];
            annotations: {
                destructiveHint: boolean;
                idempotentHint: boolean;
                openWorldHint: boolean;
                readOnlyHint: boolean;
            };
            description: string;
            executor: "sandbox" | "server" | "edge";
            fleetCapable?: boolean | undefined;
            input_schema: unknown;
            inputSchema: unknown;
            name: string;
            outputSchema?: unknown | undefined;
            server?: string | undefined;
            source: "builtin" | "management" | "mcp" | "edge";
        };
        ToolApproval: {
            approvers: string[];
            editable: boolean;
            elicit: boolean;
            forbid_initiator: boolean;
            on_timeout: "reject" | "fail";
            quorum: number;
            remember: ("execution" | "tool") | null;
            timeout_seconds: number;
            when: string | null;
        };
        ToolInvocation: {
            agent_id: string | null;
            approval_id: string | null;
            arguments: unknown;
            arguments_sha256: string | null;
            capability_index: number | null;
            code: string | null;
            context_version: number | null;
            count: number;
            decision: "allow" | "deny";
            duration_ms: number | null;
            edited_arguments: unknown;
            entry: "seal" | "dispatch" | "mcp" | "workflow";
            execution_id: string | null;
            id: string;
            iteration_number: number | null;
            outcome: "waiting" | "running" | "success" | "failed" | "interrupted" | "withdrawn";
            request_id: string | null;
            result_bytes: number | null;
            security_context: string | null;
            session_id: string | null;
            started_at: string;
            tenant_id: string;
            tool_name: string;
            violation_type: string | null;
        };
        ToolInvocationDetail: {
            agent_id: string | null;
            approval_id: string | null;
            arguments: unknown;
            arguments_sha256: string | null;
            capability_index: number | null;
            code: string | null;
            context_version: number | null;
            count: number;
            decision: "allow" | "deny";
            duration_ms: number | null;
            edited_arguments: unknown;
            entry: "seal" | "dispatch" | "mcp" | "workflow";
            execution_id: string | null;
            id: string;
            iteration_number: number | null;
            outcome: "waiting" | "running" | "success" | "failed" | "interrupted" | "withdrawn";
            request_id: string | null;
            result: unknown;
            result_bytes: number | null;
            security_context: string | null;
            session_id: string | null;
            started_at: string;
            tenant_id: string;
            tool_name: string;
            violation_type: string | null;
        };
        ToolServer: {
            args: string[];
            call_timeout_seconds: number;
            capabilities: {
                name: string;
                skip_judge: boolean;
            }[] | null;
            created_at: string;
            credentials: {
                [key: string]: string;
            };
            definitions: "pinned" | "follow";
            egress: string[];
            enabled: boolean;
            environment: {
                [key: string]: string;
            };
            executable: string | null;
            health_check: {
                interval_seconds: number;
                timeout_seconds: number;
            };
            id: string;
            instances: components["schemas"]["ToolServerInstance"][];
            max_concurrent: number;
            name: string;
            protocol_version: string | null;
            resource_limits: {
                cpu_millicores: number;
                memory_mb: number;
            };
            source: "api" | "file";
            status: "stopped" | "starting" | "running" | "unhealthy" | "failed";
            tenant_id: string | null;
            tools_count: number;
            transport: "stdio" | "streamable_http";
            unenforced_limits: string[];
            updated_at: string;
            url: string | null;
            version: number;
            withheld_tools: string[];
        };
        ToolServerChange: {
            args?: string[] | undefined;
            call_timeout_seconds?: number | undefined;
            capabilities?: {
                name: string;
                skip_judge?: boolean | undefined;
            }[] | null | undefined;
            credentials?: {
                [key: string]: string;
            } | undefined;
            definitions?: "pinned" | "follow" | undefined;
            egress?: string[] | undefined;
            enabled?: boolean | undefined;
            environment?: {
                [key: string]: string;
            } | undefined;
            executable?: string | null | undefined;
            health_check?: {
                interval_seconds?: number | undefined;
                timeout_seconds?: number | undefined;
            } | undefined;
            max_concurrent?: number | undefined;
            resource_limits?: {
                cpu_millicores?: number | undefined;
                memory_mb?: number | undefined;
            } | undefined;
            transport?: "stdio" | "streamable_http" | undefined;
            url?: string | null | undefined;
        };
        ToolServerInstance: {
            last_error: string | null;
            last_health_at: string | null;
            node_id: string;
            pid: number | null;
            restarts: number;
            started_at: string | null;
            status: "stopped" | "starting" | "running" | "unhealthy" | "failed";
        };
        UsageReport: {
            count: number;
            from: string;
            group_by: "day" | "agent" | "model" | "workflow" | "tool";
            items: components["schemas"]["UsageRow"][];
            next_cursor: string | null;
            to: string;
            totals: components["schemas"]["UsageTotals"];
            usage: components["schemas"]["UsageRow"][];
        };
        UsageRow: {
            cost: number | null;
            executions: number | null;
            host_commands: number | null;
            input_tokens: number | null;
            key: string | null;
            name: string | null;
            output_tokens: number | null;
            sandbox_seconds: number | null;
            storage_gib_hours: number | null;
            tool_calls: number | null;
        };
        UsageTotals: {
            cost: number | null;
            executions: number | null;
            host_commands: number | null;
            input_tokens: number | null;
            output_tokens: number | null;
            sandbox_seconds: number | null;
            storage_gib_hours: number | null;
            tool_calls: number | null;
        };
        UserRate: {
            bucket: string;
            bucket_name: string;
            burst_value: number | null;
            current_count: number;
            limit_value: number;
            remaining: number;
            resets_at: string;
            resource_type: string;
            scope_id: string;
            scope_type: "tenant" | "user";
            usage_pct: number;
            window_seconds: number;
            window_start: string;
        };
        UserRates: {
            buckets: components["schemas"]["UserRate"][];
            count: number;
            items: components["schemas"]["UserRate"][];
            tenant_id: string;
            tier: string;
            usage: components["schemas"]["UserRate"][];
            user_id: string;
        };
        ValidApiKey: {
            aegis_role: string | null;
            expires_at: string | null;
            key_id: string;
            kind: string;
            role: string | null;
            scopes: string[];
            tenant_id: string;
            tier: string;
            user_id: string;
            zaru_tier: string;
        };
        Volume: {
            created_at: string;
            file_count: number;
            id: string;
            label: string;
            name: string;
            owner_user_id: string | null;
            size_limit_bytes: number;
            status: "available" | "attached";
            tenant_id: string;
            updated_at: string;
            used_bytes: number;
            visibility: "private" | "tenant";
        };
        VolumeChange: {
            label?: string | undefined;
            size_limit_bytes?: number | undefined;
            visibility?: "private" | "tenant" | undefined;
        };
        Workflow: {
            annotations: {
                [key: string]: string;
            };
            created_at: string;
            description: string;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            name: string;
            registered_at: string;
            scope: "tenant" | "global";
            status: "active";
            tags: string[];
            tenant_id: string;
            updated_at: string;
            version: string;
            versions_count: number;
            workflow_id: string;
        };
        WorkflowCancelRequested: {
            execution_id: string;
            status: "cancel_requested";
        };
        WorkflowDeleted: {
            deleted_versions: string[];
            name: string;
            status: "deleted";
            success: true;
        };
        WorkflowDetail: {
            annotations: {
                [key: string]: string;
            };
            created_at: string;
            description: string;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            manifest_yaml: string;
            metadata: unknown;
            name: string;
            registered_at: string;
            scope: "tenant" | "global";
            status: "active";
            tags: string[];
            tenant_id: string;
            updated_at: string;
            version: string;
            versions_count: number;
            workflow_id: string;
        };
        WorkflowEvent: {
            details: {
                [key: string]: unknown;
            };
            event_type: string;
            execution_id: string;
            iteration_number?: number | undefined;
            message: string;
            sequence: number;
            state_name?: string | undefined;
            temporal_run_id: string;
            temporal_workflow_id: string;
            timestamp: string;
            type: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowForked: {
            execution_id: string;
            forked_from: string;
            id: string;
            started_at: string;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            temporal_run_id: string;
            temporal_workflow_id: string;
            version: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowJudgement: {
            issues: components["schemas"]["AgentWarning"][];
            valid: boolean;
            warnings: components["schemas"]["AgentWarning"][];
        };
        WorkflowLog: {
            count: number;
            events: components["schemas"]["WorkflowEvent"][];
            execution_id: string;
            limit: number;
            offset: number;
            total: number;
        };
        WorkflowManifest: {
            apiVersion: "svc.dev/v1" | "100monkeys.ai/v1";
            kind: "Workflow";
            metadata: {
                annotations?: {
                    [key: string]: string;
                } | null | undefined;
                description?: string | null | undefined;
                input_schema?: Record<string, never> | boolean | null | undefined;
                labels?: {
                    [key: string]: string;
                } | null | undefined;
                name: string;
                output_schema?: Record<string, never> | boolean | null | undefined;
                output_template?: {
                    [key: string]: string;
                } | null | undefined;
                tags?: string[] | null | undefined;
                version?: string | null | undefined;
            };
            spec: {
                compensate_on?: ("failed" | "cancelled" | "timed_out")[] | null | undefined;
                context?: Record<string, never> | null | undefined;
                initial_state: string;
                max_total_transitions?: number | null | undefined;
                schedules?: components["schemas"]["WorkflowManifest.Schedule"][] | null | undefined;
                security_context?: string | null | undefined;
                states: {
                    [key: string]: components["schemas"]["WorkflowManifest.State"];
                } | components["schemas"]["WorkflowManifest.NamedState"][];
                storage?: {
                    shared_volumes?: {
                        name: string;
                        size_limit_bytes?: number | null | undefined;
                        storage_class?: "ephemeral" | "persistent" | null | undefined;
                    }[] | null | undefined;
                    workspace?: {
                        blackboard_key?: string | null | undefined;
                        size_limit_mb?: number | null | undefined;
                        storage_class?: "ephemeral" | "persistent" | null | undefined;
                        ttl_hours?: number | null | undefined;
                        volume_id?: string | null | undefined;
                    } | null | undefined;
                } | null | undefined;
                strict_templates?: boolean | null | undefined;
            };
        };
        "WorkflowManifest.AgentMount": {
            mount_path: string;
            name: string;
            read_only?: boolean | null | undefined;
        };
        "WorkflowManifest.Branch": {
            initial_state: string;
            name: string;
            states: {
                [key: string]: components["schemas"]["WorkflowManifest.InnerState"];
            } | components["schemas"]["WorkflowManifest.NamedInnerState"][];
        };
        "WorkflowManifest.ContainerMount": {
            mount_path: string;
            name: string;
            read_only?: boolean | null | undefined;
        };
        "WorkflowManifest.InnerState": {
            agent: string;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input: unknown;
            intent?: string | null | undefined;
            isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
            judge_threshold?: number | null | undefined;
            judges?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "Agent";
            max_iterations?: number | null | undefined;
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            temperature?: number | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null | undefined;
        } | {
            command: string | string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image?: string | null | undefined;
            kind: "System";
            max_state_visits?: number | null | undefined;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir?: string | null | undefined;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null | undefined;
                timeout_seconds?: number | null | undefined;
                weight?: number | null | undefined;
            }[];
            compensate?: string | null | undefined;
            consensus: {
                agreement?: number | null | undefined;
                confidence_weighting?: {
                    agreement_factor?: number | null | undefined;
                    self_confidence_factor?: number | null | undefined;
                } | null | undefined;
                min_agreement_confidence?: number | null | undefined;
                min_judges_required?: number | null | undefined;
                n?: number | null | undefined;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold?: number | null | undefined;
            };
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            judges_for_parallel?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "ParallelAgents";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image: string;
            image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
            kind: "ContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            read_only_root_filesystem?: boolean | null | undefined;
            registry_credentials?: string | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                backoff?: number | string | null | undefined;
                max_attempts?: number | null | undefined;
            } | null | undefined;
            run_as_user?: number | null | undefined;
            shell?: boolean | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
            workdir?: string | null | undefined;
        } | {
            compensate?: string | null | undefined;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "ParallelContainerRun";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null | undefined;
                image: string;
                name: string;
                network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
                registry_credentials?: string | null | undefined;
                resources?: {
                    cpu?: number | string | null | undefined;
                    memory?: number | string | null | undefined;
                    timeout?: number | string | null | undefined;
                } | null | undefined;
                shell?: boolean | null | undefined;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
                workdir?: string | null | undefined;
            }[];
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            kind: "Subworkflow";
            max_state_visits?: number | null | undefined;
            mode: "blocking" | "fire_and_forget";
            outcome?: "completed" | "failed" | null | undefined;
            result_key?: unknown | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Wait";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            seconds?: number | string | null | undefined;
            signal?: string | null | undefined;
            stimulus?: {
                equals?: string | null | undefined;
                key?: string | null | undefined;
                match?: string | null | undefined;
                source: string;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null | undefined;
        } | {
            arguments?: Record<string, never> | string | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Tool";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null | undefined;
            command?: string | string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Fleet";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            policy?: Record<string, never> | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            target: unknown;
            timeout?: number | string | null | undefined;
            tool?: string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            expect?: {
                schema?: Record<string, never> | boolean | null | undefined;
                status?: (number | string)[] | null | undefined;
            } | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Http";
            max_state_visits?: number | null | undefined;
            method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents?: boolean | null | undefined;
            approvers?: string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            default_response?: string | null | undefined;
            escalate?: {
                after: number | string;
                approvers?: string[] | null | undefined;
                notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            } | null | undefined;
            forbid_initiator?: boolean | null | undefined;
            kind: "Human";
            max_state_visits?: number | null | undefined;
            notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            prompt: string;
            quorum?: number | null | undefined;
            reject_on_timeout?: boolean | null | undefined;
            remind_after?: number | string | null | undefined;
            required_role?: string | null | undefined;
            timeout?: number | string | null | undefined;
            timeout_seconds?: number | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Item": {
            agent: string;
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            input: unknown;
            intent?: string | null | undefined;
            isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
            judge_threshold?: number | null | undefined;
            judges?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "Agent";
            max_iterations?: number | null | undefined;
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            temperature?: number | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null | undefined;
        } | {
            command: string | string[];
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image?: string | null | undefined;
            kind: "System";
            max_state_visits?: unknown | null | undefined;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: unknown | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            workdir?: string | null | undefined;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null | undefined;
                timeout_seconds?: number | null | undefined;
                weight?: number | null | undefined;
            }[];
            compensate?: unknown | null | undefined;
            consensus: {
                agreement?: number | null | undefined;
                confidence_weighting?: {
                    agreement_factor?: number | null | undefined;
                    self_confidence_factor?: number | null | undefined;
                } | null | undefined;
                min_agreement_confidence?: number | null | undefined;
                min_judges_required?: number | null | undefined;
                n?: number | null | undefined;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold?: number | null | undefined;
            };
            continue_as?: unknown | null | undefined;
            judges_for_parallel?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "ParallelAgents";
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
        } | {
            command: string[];
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image: string;
            image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
            kind: "ContainerRun";
            max_state_visits?: unknown | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: unknown | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            read_only_root_filesystem?: boolean | null | undefined;
            registry_credentials?: string | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                backoff?: number | string | null | undefined;
                max_attempts?: number | null | undefined;
            } | null | undefined;
            run_as_user?: number | null | undefined;
            shell?: boolean | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
            workdir?: string | null | undefined;
        } | {
            compensate?: unknown | null | undefined;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: unknown | null | undefined;
            kind: "ParallelContainerRun";
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null | undefined;
                image: string;
                name: string;
                network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
                registry_credentials?: string | null | undefined;
                resources?: {
                    cpu?: number | string | null | undefined;
                    memory?: number | string | null | undefined;
                    timeout?: number | string | null | undefined;
                } | null | undefined;
                shell?: boolean | null | undefined;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
                workdir?: string | null | undefined;
            }[];
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
        } | {
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            input?: unknown | undefined;
            kind: "Subworkflow";
            max_state_visits?: unknown | null | undefined;
            mode: "blocking" | "fire_and_forget";
            outcome?: unknown | null | undefined;
            result_key?: unknown | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            workflow_id: string;
        } | {
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            kind: "Wait";
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            seconds?: number | string | null | undefined;
            signal?: string | null | undefined;
            stimulus?: {
                equals?: string | null | undefined;
                key?: string | null | undefined;
                match?: string | null | undefined;
                source: string;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            until?: string | null | undefined;
        } | {
            arguments?: Record<string, never> | string | null | undefined;
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            kind: "Tool";
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            tool: string;
            transitions?: unknown | null | undefined;
        } | {
            args?: Record<string, never> | string | null | undefined;
            command?: string | string[] | null | undefined;
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            kind: "Fleet";
            max_state_visits?: unknown | null | undefined;
            outcome?: unknown | null | undefined;
            policy?: Record<string, never> | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            target: unknown;
            timeout?: number | string | null | undefined;
            tool?: string | null | undefined;
            transitions?: unknown | null | undefined;
        } | {
            body?: unknown | undefined;
            compensate?: unknown | null | undefined;
            continue_as?: unknown | null | undefined;
            expect?: {
                schema?: Record<string, never> | boolean | null | undefined;
                status?: (number | string)[] | null | undefined;
            } | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Http";
            max_state_visits?: unknown | null | undefined;
            method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined;
            outcome?: unknown | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions?: unknown | null | undefined;
            url: string;
        };
        "WorkflowManifest.Judge": {
            agent_id: string;
            input_template?: string | null | undefined;
            weight?: number | null | undefined;
        };
        "WorkflowManifest.NamedInnerState": {
            agent: string;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input: unknown;
            intent?: string | null | undefined;
            isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
            judge_threshold?: number | null | undefined;
            judges?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "Agent";
            max_iterations?: number | null | undefined;
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            temperature?: number | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null | undefined;
        } | {
            command: string | string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image?: string | null | undefined;
            kind: "System";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir?: string | null | undefined;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null | undefined;
                timeout_seconds?: number | null | undefined;
                weight?: number | null | undefined;
            }[];
            compensate?: string | null | undefined;
            consensus: {
                agreement?: number | null | undefined;
                confidence_weighting?: {
                    agreement_factor?: number | null | undefined;
                    self_confidence_factor?: number | null | undefined;
                } | null | undefined;
                min_agreement_confidence?: number | null | undefined;
                min_judges_required?: number | null | undefined;
                n?: number | null | undefined;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold?: number | null | undefined;
            };
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            judges_for_parallel?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "ParallelAgents";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image: string;
            image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
            kind: "ContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            read_only_root_filesystem?: boolean | null | undefined;
            registry_credentials?: string | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                backoff?: number | string | null | undefined;
                max_attempts?: number | null | undefined;
            } | null | undefined;
            run_as_user?: number | null | undefined;
            shell?: boolean | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
            workdir?: string | null | undefined;
        } | {
            compensate?: string | null | undefined;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "ParallelContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null | undefined;
                image: string;
                name: string;
                network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
                registry_credentials?: string | null | undefined;
                resources?: {
                    cpu?: number | string | null | undefined;
                    memory?: number | string | null | undefined;
                    timeout?: number | string | null | undefined;
                } | null | undefined;
                shell?: boolean | null | undefined;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
                workdir?: string | null | undefined;
            }[];
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            kind: "Subworkflow";
            max_state_visits?: number | null | undefined;
            mode: "blocking" | "fire_and_forget";
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            result_key?: unknown | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Wait";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            seconds?: number | string | null | undefined;
            signal?: string | null | undefined;
            stimulus?: {
                equals?: string | null | undefined;
                key?: string | null | undefined;
                match?: string | null | undefined;
                source: string;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null | undefined;
        } | {
            arguments?: Record<string, never> | string | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Tool";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null | undefined;
            command?: string | string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Fleet";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            policy?: Record<string, never> | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            target: unknown;
            timeout?: number | string | null | undefined;
            tool?: string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            expect?: {
                schema?: Record<string, never> | boolean | null | undefined;
                status?: (number | string)[] | null | undefined;
            } | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Http";
            max_state_visits?: number | null | undefined;
            method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents?: boolean | null | undefined;
            approvers?: string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            default_response?: string | null | undefined;
            escalate?: {
                after: number | string;
                approvers?: string[] | null | undefined;
                notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            } | null | undefined;
            forbid_initiator?: boolean | null | undefined;
            kind: "Human";
            max_state_visits?: number | null | undefined;
            name: string;
            notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            prompt: string;
            quorum?: number | null | undefined;
            reject_on_timeout?: boolean | null | undefined;
            remind_after?: number | string | null | undefined;
            required_role?: string | null | undefined;
            timeout?: number | string | null | undefined;
            timeout_seconds?: number | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.NamedState": {
            agent: string;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input: unknown;
            intent?: string | null | undefined;
            isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
            judge_threshold?: number | null | undefined;
            judges?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "Agent";
            max_iterations?: number | null | undefined;
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            temperature?: number | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null | undefined;
        } | {
            command: string | string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image?: string | null | undefined;
            kind: "System";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir?: string | null | undefined;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null | undefined;
                timeout_seconds?: number | null | undefined;
                weight?: number | null | undefined;
            }[];
            compensate?: string | null | undefined;
            consensus: {
                agreement?: number | null | undefined;
                confidence_weighting?: {
                    agreement_factor?: number | null | undefined;
                    self_confidence_factor?: number | null | undefined;
                } | null | undefined;
                min_agreement_confidence?: number | null | undefined;
                min_judges_required?: number | null | undefined;
                n?: number | null | undefined;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold?: number | null | undefined;
            };
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            judges_for_parallel?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "ParallelAgents";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image: string;
            image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
            kind: "ContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            read_only_root_filesystem?: boolean | null | undefined;
            registry_credentials?: string | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                backoff?: number | string | null | undefined;
                max_attempts?: number | null | undefined;
            } | null | undefined;
            run_as_user?: number | null | undefined;
            shell?: boolean | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
            workdir?: string | null | undefined;
        } | {
            compensate?: string | null | undefined;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "ParallelContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null | undefined;
                image: string;
                name: string;
                network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
                registry_credentials?: string | null | undefined;
                resources?: {
                    cpu?: number | string | null | undefined;
                    memory?: number | string | null | undefined;
                    timeout?: number | string | null | undefined;
                } | null | undefined;
                shell?: boolean | null | undefined;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
                workdir?: string | null | undefined;
            }[];
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            kind: "Subworkflow";
            max_state_visits?: number | null | undefined;
            mode: "blocking" | "fire_and_forget";
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            result_key?: unknown | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Wait";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            seconds?: number | string | null | undefined;
            signal?: string | null | undefined;
            stimulus?: {
                equals?: string | null | undefined;
                key?: string | null | undefined;
                match?: string | null | undefined;
                source: string;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null | undefined;
        } | {
            arguments?: Record<string, never> | string | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Tool";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null | undefined;
            command?: string | string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Fleet";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            policy?: Record<string, never> | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            target: unknown;
            timeout?: number | string | null | undefined;
            tool?: string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            expect?: {
                schema?: Record<string, never> | boolean | null | undefined;
                status?: (number | string)[] | null | undefined;
            } | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Http";
            max_state_visits?: number | null | undefined;
            method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents?: boolean | null | undefined;
            approvers?: string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            default_response?: string | null | undefined;
            escalate?: {
                after: number | string;
                approvers?: string[] | null | undefined;
                notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            } | null | undefined;
            forbid_initiator?: boolean | null | undefined;
            kind: "Human";
            max_state_visits?: number | null | undefined;
            name: string;
            notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            prompt: string;
            quorum?: number | null | undefined;
            reject_on_timeout?: boolean | null | undefined;
            remind_after?: number | string | null | undefined;
            required_role?: string | null | undefined;
            timeout?: number | string | null | undefined;
            timeout_seconds?: number | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            as?: string | null | undefined;
            batch?: number | null | undefined;
            compensate?: string | null | undefined;
            concurrency?: number | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            items: string | unknown[];
            kind: "Map";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            state?: components["schemas"]["WorkflowManifest.Item"] | null | undefined;
            timeout?: number | string | null | undefined;
            tolerate?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow?: string | null | undefined;
        } | {
            branches: components["schemas"]["WorkflowManifest.Branch"][];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            join?: ("all" | "any") | number | null | undefined;
            kind: "Branch";
            max_state_visits?: number | null | undefined;
            name: string;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Notification": {
            secret?: string | null | undefined;
            type: "webhook";
            url: string;
        } | {
            to: string[];
            type: "email";
        };
        "WorkflowManifest.OutputHandler": {
            agent_id: string;
            input_template?: string | null | undefined;
            required?: boolean | null | undefined;
            timeout_seconds?: number | null | undefined;
            type: "agent";
        } | {
            body_template?: string | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            method?: "POST" | "PUT" | "PATCH" | null | undefined;
            required?: boolean | null | undefined;
            retry?: {
                max_attempts?: number | null | undefined;
            } | null | undefined;
            timeout_seconds?: number | null | undefined;
            type: "webhook";
            url: string;
        };
        "WorkflowManifest.Schedule": {
            catch_up?: "none" | "last" | "all" | null | undefined;
            catch_up_window?: number | string | null | undefined;
            cron?: string | null | undefined;
            every?: number | string | null | undefined;
            input?: unknown | undefined;
            jitter?: number | string | null | undefined;
            name: string;
            overlap?: "skip" | "queue" | "allow" | "cancel_previous" | null | undefined;
            timezone?: string | null | undefined;
        };
        "WorkflowManifest.State": {
            agent: string;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input: unknown;
            intent?: string | null | undefined;
            isolation?: "inherit" | "docker" | "process" | "firecracker" | null | undefined;
            judge_threshold?: number | null | undefined;
            judges?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "Agent";
            max_iterations?: number | null | undefined;
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            temperature?: number | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null | undefined;
        } | {
            command: string | string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image?: string | null | undefined;
            kind: "System";
            max_state_visits?: number | null | undefined;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir?: string | null | undefined;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null | undefined;
                timeout_seconds?: number | null | undefined;
                weight?: number | null | undefined;
            }[];
            compensate?: string | null | undefined;
            consensus: {
                agreement?: number | null | undefined;
                confidence_weighting?: {
                    agreement_factor?: number | null | undefined;
                    self_confidence_factor?: number | null | undefined;
                } | null | undefined;
                min_agreement_confidence?: number | null | undefined;
                min_judges_required?: number | null | undefined;
                n?: number | null | undefined;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold?: number | null | undefined;
            };
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            judges_for_parallel?: components["schemas"]["WorkflowManifest.Judge"][] | null | undefined;
            kind: "ParallelAgents";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            env?: {
                [key: string]: string;
            } | null | undefined;
            image: string;
            image_pull_policy?: "Always" | "IfNotPresent" | "Never" | null | undefined;
            kind: "ContainerRun";
            max_state_visits?: number | null | undefined;
            name: string;
            network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null | undefined;
            read_only_root_filesystem?: boolean | null | undefined;
            registry_credentials?: string | null | undefined;
            resources?: {
                cpu?: number | string | null | undefined;
                memory?: number | string | null | undefined;
                timeout?: number | string | null | undefined;
            } | null | undefined;
            retry?: {
                backoff?: number | string | null | undefined;
                max_attempts?: number | null | undefined;
            } | null | undefined;
            run_as_user?: number | null | undefined;
            shell?: boolean | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
            workdir?: string | null | undefined;
        } | {
            compensate?: string | null | undefined;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "ParallelContainerRun";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null | undefined;
                image: string;
                name: string;
                network_mode?: "none" | "default" | "bridge" | "host" | null | undefined;
                registry_credentials?: string | null | undefined;
                resources?: {
                    cpu?: number | string | null | undefined;
                    memory?: number | string | null | undefined;
                    timeout?: number | string | null | undefined;
                } | null | undefined;
                shell?: boolean | null | undefined;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null | undefined;
                workdir?: string | null | undefined;
            }[];
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            kind: "Subworkflow";
            max_state_visits?: number | null | undefined;
            mode: "blocking" | "fire_and_forget";
            outcome?: "completed" | "failed" | null | undefined;
            result_key?: unknown | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Wait";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            seconds?: number | string | null | undefined;
            signal?: string | null | undefined;
            stimulus?: {
                equals?: string | null | undefined;
                key?: string | null | undefined;
                match?: string | null | undefined;
                source: string;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null | undefined;
        } | {
            arguments?: Record<string, never> | string | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Tool";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null | undefined;
            command?: string | string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            kind: "Fleet";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            policy?: Record<string, never> | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            target: unknown;
            timeout?: number | string | null | undefined;
            tool?: string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            expect?: {
                schema?: Record<string, never> | boolean | null | undefined;
                status?: (number | string)[] | null | undefined;
            } | null | undefined;
            headers?: {
                [key: string]: string;
            } | null | undefined;
            kind: "Http";
            max_state_visits?: number | null | undefined;
            method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents?: boolean | null | undefined;
            approvers?: string[] | null | undefined;
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            default_response?: string | null | undefined;
            escalate?: {
                after: number | string;
                approvers?: string[] | null | undefined;
                notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            } | null | undefined;
            forbid_initiator?: boolean | null | undefined;
            kind: "Human";
            max_state_visits?: number | null | undefined;
            notify?: components["schemas"]["WorkflowManifest.Notification"][] | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            prompt: string;
            quorum?: number | null | undefined;
            reject_on_timeout?: boolean | null | undefined;
            remind_after?: number | string | null | undefined;
            required_role?: string | null | undefined;
            timeout?: number | string | null | undefined;
            timeout_seconds?: number | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            as?: string | null | undefined;
            batch?: number | null | undefined;
            compensate?: string | null | undefined;
            concurrency?: number | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            input?: unknown | undefined;
            items: string | unknown[];
            kind: "Map";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            state?: components["schemas"]["WorkflowManifest.Item"] | null | undefined;
            timeout?: number | string | null | undefined;
            tolerate?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow?: string | null | undefined;
        } | {
            branches: components["schemas"]["WorkflowManifest.Branch"][];
            compensate?: string | null | undefined;
            continue_as?: {
                input?: unknown | undefined;
            } | null | undefined;
            join?: ("all" | "any") | number | null | undefined;
            kind: "Branch";
            max_state_visits?: number | null | undefined;
            outcome?: "completed" | "failed" | null | undefined;
            retry?: {
                attempts?: number | null | undefined;
                backoff?: number | null | undefined;
                delay?: number | string | null | undefined;
                max_delay?: number | string | null | undefined;
                on?: string[] | null | undefined;
            } | null | undefined;
            timeout?: number | string | null | undefined;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Transition": {
            condition?: "always" | null | undefined;
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "on_success";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "on_failure";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "on_timeout";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "exit_code_zero";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "exit_code_non_zero";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "exit_code";
            feedback?: string | null | undefined;
            target: string;
            value: number | string;
        } | {
            condition: "score_above";
            feedback?: string | null | undefined;
            target: string;
            threshold: number;
        } | {
            condition: "score_below";
            feedback?: string | null | undefined;
            target: string;
            threshold: number;
        } | {
            condition: "score_between";
            feedback?: string | null | undefined;
            max: number;
            min: number;
            target: string;
        } | {
            condition: "confidence_above";
            feedback?: string | null | undefined;
            target: string;
            threshold: number;
        } | {
            condition: "score_and_confidence_above";
            feedback?: string | null | undefined;
            target: string;
            threshold: number;
        } | {
            agreement?: number | null | undefined;
            condition: "consensus";
            feedback?: string | null | undefined;
            target: string;
            threshold: number;
        } | {
            condition: "all_approved";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "any_rejected";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "input_equals";
            feedback?: string | null | undefined;
            target: string;
            value: string;
        } | {
            condition: "approved";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "input_equals_yes";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "rejected";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "input_equals_no";
            feedback?: string | null | undefined;
            target: string;
        } | {
            condition: "custom";
            expression: string;
            feedback?: string | null | undefined;
            target: string;
        };
        WorkflowRegistered: {
            created_at: string;
            id: string;
            name: string;
            registered_at: string;
            scope: "tenant" | "global";
            status: "registered";
            tenant_id: string;
            version: string;
            warnings: components["schemas"]["AgentWarning"][];
            workflow_id: string;
        };
        WorkflowRetried: {
            execution_id: string;
            id: string;
            retry_of: string;
            started_at: string;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            temporal_run_id: string;
            temporal_workflow_id: string;
            version: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowRun: {
            compensation: components["schemas"]["WorkflowRunCompensation"];
            context_ceilings: string[];
            continued_as: string | null;
            continued_from: string | null;
            current_state: string | null;
            deadline_at: string | null;
            ended_at: string | null;
            error: string | null;
            error_code: string | null;
            execution_id: string;
            final_output: unknown;
            forked_from: string | null;
            id: string;
            initiated_by: {
                email: string | null;
                kind: string;
                realm?: string | undefined;
                sub: string;
            };
            intent: string;
            last_transition_at: string;
            parent_execution_id: string | null;
            paused_at: string | null;
            retry_of: string | null;
            schedule_id: string | null;
            security_context: string | null;
            started_at: string;
            starter: components["schemas"]["Starter"] | null;
            state_visits: {
                [key: string]: number;
            };
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            stimulus_id: string | null;
            summary: string | null;
            temporal_run_id: string;
            temporal_workflow_id: string;
            tenant_id: string;
            transition_count: number;
            waiting_for: components["schemas"]["WorkflowRunWait"] | null;
            workflow_id: string;
            workflow_name: string;
            workflow_version: string;
        };
        WorkflowRunCompensation: {
            remaining: {
                of_state: string;
                of_visit: number;
                state_name: string;
            }[];
            status: "none" | "running" | "done" | "failed";
        };
        WorkflowRunEdge: {
            condition: string;
            from: string;
            taken: number;
            to: string;
        };
        WorkflowRunGraph: {
            current_state: string | null;
            edges: components["schemas"]["WorkflowRunEdge"][];
            execution_id: string;
            nodes: components["schemas"]["WorkflowRunNode"][];
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            steps: components["schemas"]["WorkflowRunStep"][];
            version: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowRunNode: {
            branch: {
                name: string;
                state: string;
            } | null;
            duration_ms: number | null;
            entered_at: string | null;
            exited_at: string | null;
            kind: string;
            name: string;
            status: string;
            terminal: boolean;
            visits: number;
        };
        WorkflowRunRecord: {
            attachments: unknown[];
            blackboard: {
                [key: string]: unknown;
            };
            compensation: components["schemas"]["WorkflowRunCompensation"];
            context_ceilings: string[];
            continued_as: string | null;
            continued_from: string | null;
            current_state: string | null;
            deadline_at: string | null;
            ended_at: string | null;
            error: string | null;
            error_code: string | null;
            execution_id: string;
            final_output: unknown;
            forked_from: string | null;
            id: string;
            initiated_by: {
                email: string | null;
                kind: string;
                realm?: string | undefined;
                sub: string;
            };
            input: unknown;
            intent: string;
            last_transition_at: string;
            parent_execution_id: string | null;
            paused_at: string | null;
            retry_of: string | null;
            schedule_id: string | null;
            security_context: string | null;
            started_at: string;
            starter: components["schemas"]["Starter"] | null;
            state_outputs: {
                [key: string]: unknown;
            };
            state_visits: {
                [key: string]: number;
            };
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            stimulus_id: string | null;
            summary: string | null;
            temporal_run_id: string;
            temporal_workflow_id: string;
            tenant_id: string;
            transition_count: number;
            waiting_for: components["schemas"]["WorkflowRunWait"] | null;
            warnings: {
                at: string;
                code: string;
                message: string;
                state_name: string | null;
            }[];
            workflow_id: string;
            workflow_name: string;
            workflow_version: string;
        };
        WorkflowRunRemoved: {
            execution_id: string;
            status: "removed";
            success: true;
        };
        WorkflowRunStep: {
            branch: string | null;
            compensates: {
                state: string;
                visit: number;
            } | null;
            condition: string | null;
            duration_ms: number | null;
            entered_at: string;
            exited_at: string | null;
            sequence: number;
            state: string;
            status: string;
            target: string | null;
            visit: number;
        };
        WorkflowRunWait: {
            approval_id?: string | undefined;
            expires_at: string | null;
            kind: "approval" | "tool_call" | "time" | "signal" | "stimulus";
            state_name: string;
        };
        WorkflowSchedule: {
            catch_up: "none" | "last" | "all";
            catch_up_window: number;
            cron: string | null;
            every: number | null;
            id: string;
            input: unknown;
            jitter: number;
            last_execution_id: string | null;
            last_started_at: string | null;
            name: string;
            next_times: string[];
            overlap: "skip" | "queue" | "allow" | "cancel_previous";
            paused: boolean;
            skipped: number;
            timezone: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowScopeChanged: {
            annotations: {
                [key: string]: string;
            };
            changed: boolean;
            created_at: string;
            description: string;
            execution_count: number;
            id: string;
            input_schema: unknown;
            labels: {
                [key: string]: string;
            };
            manifest_yaml: string;
            metadata: unknown;
            name: string;
            new_scope: "tenant" | "global";
            previous_scope: "tenant" | "global";
            registered_at: string;
            scope: "tenant" | "global";
            status: "active";
            success: true;
            tags: string[];
            tenant_id: string;
            updated_at: string;
            version: string;
            versions_count: number;
            workflow_id: string;
        };
        WorkflowSignalled: {
            approval_id?: string | undefined;
            execution_id: string;
            status: "signal_sent" | "buffered";
        };
        WorkflowsMigrated: {
            matched: number;
            migrated: string[];
            refused: {
                code: "not_waiting" | "state_missing" | "state_changed";
                execution_id: string;
                message: string;
            }[];
        };
        WorkflowStarted: {
            execution_id: string;
            id: string;
            started_at: string;
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            temporal_run_id: string;
            temporal_workflow_id: string;
            version: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowVersion: {
            created_at: string;
            description: string;
            id: string;
            is_latest: boolean;
            manifest_sha256: string;
            name: string;
            registered_at: string;
            scope: "tenant" | "global";
            tenant_id: string;
            version: string;
            workflow_id: string;
        };
        WorkflowVersionsDiff: {
            added: string[];
            changed: {
                from: unknown;
                path: string;
                to: unknown;
            }[];
            removed: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    getWellKnownJwksJson: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        keys: {
                            alg: "EdDSA";
                            crv: "Ed25519";
                            kid: string;
                            kty: "OKP";
                            use: "sig";
                            x: string;
                        }[];
                    };
                };
            };
        };
    };
    getWellKnownOauthProtectedResourceMcp: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        authorization_servers: string[];
                        bearer_methods_supported: string[];
                        resource: string;
                        resource_name: string;
                        scopes_supported: string[];
                    };
                };
            };
        };
    };
    getHealth: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        status: "ok";
                    };
                };
            };
        };
    };
    getHealthLive: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        mode: "live";
                        status: "healthy";
                        uptime_seconds: number;
                    };
                };
            };
        };
    };
    getHealthReady: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        dependencies: {
                            [key: string]: {
                                latency_ms: number | null;
                                reason: string | null;
                                status: "up" | "down" | "disabled";
                            };
                        };
                        status: "ready" | "degraded" | "unavailable";
                        uptime_seconds: number;
                        warnings: {
                            code: string;
                            message: string;
                        }[];
                    };
                };
            };
        };
    };
    getRealmsByRealmWellKnownOpenidConfiguration: {
        parameters: {
            path: {
                realm: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        grant_types_supported: string[];
                        id_token_signing_alg_values_supported: string[];
                        issuer: string;
                        jwks_uri: string;
                        response_types_supported: string[];
                        subject_types_supported: string[];
                        token_endpoint: string;
                        token_endpoint_auth_methods_supported: string[];
                    };
                };
            };
        };
    };
    getRealmsByRealmProtocolOpenidConnectCerts: {
        parameters: {
            path: {
                realm: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        keys: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
        };
    };
    postRealmsByRealmProtocolOpenidConnectToken: {
        parameters: {
            path: {
                realm: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    client_id?: string | undefined;
                    client_secret?: string | undefined;
                    grant_type: "client_credentials" | "password";
                    password?: string | undefined;
                    username?: string | undefined;
                } & {
                    [key: string]: unknown;
                };
                "application/x-www-form-urlencoded": {
                    client_id?: string | undefined;
                    client_secret?: string | undefined;
                    grant_type: "client_credentials" | "password";
                    password?: string | undefined;
                    username?: string | undefined;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        access_token: string;
                        expires_in: number;
                        refresh_expires_in: number;
                        scope: string;
                        token_type: "Bearer";
                    };
                };
            };
        };
    };
    getSchemasAgentJson: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    getSchemasWorkflowJson: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    getAdminAudit: {
        parameters: {
            query?: {
                action?: string | undefined;
                actor?: string | undefined;
                cursor?: string | undefined;
                format?: "ndjson" | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                outcome?: "allowed" | "denied" | "failed" | undefined;
                since?: string | undefined;
                target_id?: string | undefined;
                target_type?: string | undefined;
                tenant_id?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["AuditEntry"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getAdminDeadLetters: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                kind?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                since?: string | undefined;
                tenant_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        dead_letters: {
                            attempts: number;
                            created_at: string;
                            error: string;
                            id: string;
                            key: string;
                            kind: string;
                            message: string;
                            replayed_at: string | null;
                            tenant_id: string;
                        }[];
                        items: {
                            attempts: number;
                            created_at: string;
                            error: string;
                            id: string;
                            key: string;
                            kind: string;
                            message: string;
                            replayed_at: string | null;
                            tenant_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getAdminDeadLettersById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeadLetter"];
                };
            };
        };
    };
    postAdminDeadLettersByIdReplay: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": {
                        id: string;
                        status: "replayed";
                    };
                };
            };
        };
    };
    getAdminDoctor: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        at: string;
                        checks: components["schemas"]["DoctorCheck"][];
                    };
                };
            };
        };
    };
    postAdminLlmReload: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        other_nodes_told: boolean;
                        served: {
                            alias: string;
                            model: string;
                            provider: string;
                        }[];
                        status: "reloaded";
                    };
                };
            };
        };
    };
    postAdminLlmTest: {
        parameters: {};
        requestBody?: {
            content: {
                "application/json": {
                    alias?: string | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        alias: string;
                        answer: string | null;
                        elapsed_ms: number;
                        error: {
                            class: string;
                            message: string;
                        } | null;
                        model: string | null;
                        ok: boolean;
                        provider: string | null;
                    };
                };
            };
        };
    };
    getAdminRateLimitsOverrides: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                resource_type?: string | undefined;
                tenant_id?: string | undefined;
                user_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["RateOverride"][];
                        next_cursor: string | null;
                        overrides: components["schemas"]["RateOverride"][];
                    };
                };
            };
        };
    };
    postAdminRateLimitsOverrides: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRateOverride"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["RateOverride"];
                };
            };
        };
    };
    deleteAdminRateLimitsOverridesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "deleted";
                    };
                };
            };
        };
    };
    getAdminRateLimitsUsage: {
        parameters: {
            query?: {
                scope_id?: string | undefined;
                scope_type?: "tenant" | "user" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["RateUsage"][];
                        usage: components["schemas"]["RateUsage"][];
                    };
                };
            };
        };
    };
    getAdminTenants: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                kind?: "system" | "consumer" | "team" | "enterprise" | undefined;
                limit?: number | undefined;
                q?: string | undefined;
                status?: "active" | "suspended" | "deleted" | undefined;
                tier?: "free" | "pro" | "business" | "enterprise" | "system" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Tenant"][];
                        next_cursor: string | null;
                        tenants: components["schemas"]["Tenant"][];
                    };
                };
            };
        };
    };
    postAdminTenants: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTenant"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    getAdminTenantsBySlug: {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    deleteAdminTenantsBySlug: {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        purge_at: string;
                        slug: string;
                        status: "deleted";
                    };
                };
            };
        };
    };
    patchAdminTenantsBySlug: {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    getAdminTenantsBySlugExport: {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-tar": string;
                };
            };
        };
    };
    postAdminTenantsBySlugRestore: {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    postAdminTenantsBySlugResume: {
        parameters: {
            path: {
                slug: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        slug: string;
                        status: "active";
                    };
                };
            };
        };
    };
    postAdminTenantsBySlugSuspend: {
        parameters: {
            path: {
                slug: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TenantSuspension"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        slug: string;
                        status: "suspended";
                    };
                };
            };
        };
    };
    getAgents: {
        parameters: {
            query?: {
                agent_type?: string | undefined;
                cursor?: string | undefined;
                label?: string[] | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                q?: string | undefined;
                scope?: "tenant" | "global" | undefined;
                status?: "active" | "paused" | "archived" | undefined;
                visible?: boolean | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        agents: components["schemas"]["Agent"][];
                        count: number;
                        items: components["schemas"]["Agent"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postAgents: {
        parameters: {
            query?: {
                dry_run?: boolean | undefined;
                force?: boolean | undefined;
                scope?: "tenant" | "global" | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentManifest"];
                "application/x-yaml": string;
                "application/yaml": string;
                "text/plain": string;
                "text/x-yaml": string;
                "text/yaml": string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDeployed"] | components["schemas"]["AgentDryRun"];
                };
            };
        };
    };
    getAgentsById: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    deleteAgentsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDeleted"];
                };
            };
        };
    };
    patchAgentsById: {
        parameters: {
            query?: {
                dry_run?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/merge-patch+json": Record<string, never>;
                "application/x-yaml": string;
                "application/yaml": string;
                "text/plain": string;
                "text/x-yaml": string;
                "text/yaml": string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentPatched"] | components["schemas"]["AgentDryRun"];
                };
            };
        };
    };
    getAgentsByIdEvents: {
        parameters: {
            query?: {
                backlog?: number | undefined;
                events?: string | undefined;
                follow?: boolean | undefined;
                format?: "single" | "flat" | undefined;
                from?: number | undefined;
                token?: string | undefined;
                verbose?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["AgentStreamEvent"];
                };
            };
        };
    };
    postAgentsByIdExecute: {
        parameters: {
            query?: {
                version?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
                Prefer?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartExecution"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionStarted"];
                };
            };
        };
    };
    postAgentsByIdPause: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdResume: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdRollback: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentRollbackRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdScope: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentScopeChanged"];
                };
            };
        };
    };
    patchAgentsByIdScope: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentScopeChanged"];
                };
            };
        };
    };
    getAgentsByIdStream: {
        parameters: {
            query?: {
                backlog?: number | undefined;
                events?: string | undefined;
                follow?: boolean | undefined;
                format?: "single" | "flat" | undefined;
                from?: number | undefined;
                token?: string | undefined;
                verbose?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["AgentStreamEvent"];
                };
            };
        };
    };
    getAgentsByIdVersions: {
        parameters: {
            query?: {
                limit?: number | undefined;
                offset?: number | undefined;
                revisions?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentVersions"];
                };
            };
        };
    };
    getAgentsLookupByName: {
        parameters: {
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    getApiKeys: {
        parameters: {
            query?: {
                all?: boolean | undefined;
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "active" | "revoked" | "expired" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        api_keys: components["schemas"]["ApiKey"][];
                        count: number;
                        items: components["schemas"]["ApiKey"][];
                        keys: components["schemas"]["ApiKey"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postApiKeys: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["IssuedApiKey"];
                };
            };
        };
    };
    getApiKeysById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    deleteApiKeysById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        message: string;
                        status: "revoked";
                    };
                };
            };
        };
    };
    postApiKeysByIdRotate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyRotationInput"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["IssuedApiKey"];
                };
            };
        };
    };
    postApiKeysValidate: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ValidApiKey"];
                };
            };
        };
    };
    getApprovalLinksByToken: {
        parameters: {
            path: {
                token: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        approval: components["schemas"]["PendingApproval"];
                    };
                };
            };
        };
    };
    postApprovalLinksByToken: {
        parameters: {
            path: {
                token: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkDecision"];
                "application/x-www-form-urlencoded": components["schemas"]["LinkDecision"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                action?: string | undefined;
                actor?: string | undefined;
                cursor?: string | undefined;
                format?: "ndjson" | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                outcome?: "allowed" | "denied" | "failed" | undefined;
                since?: string | undefined;
                target_id?: string | undefined;
                target_type?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["AuditEntry"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getAuthConfig: {
        parameters: {
            query?: {
                tenant?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SignInConfig"];
                };
            };
        };
    };
    getAuthMe: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Caller"];
                };
            };
        };
    };
    postBillingChangeTier: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTier"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["TierChanged"];
                };
            };
        };
    };
    postBillingCheckout: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCheckout"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Checkout"];
                };
            };
        };
    };
    getBillingInvoices: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        invoices: components["schemas"]["Invoice"][];
                        items: components["schemas"]["Invoice"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postBillingPortal: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody?: {
            content: {
                "application/json": {
                    return_url?: string | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        url: string;
                    };
                };
            };
        };
    };
    postBillingPreviewTierChange: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TierWish"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["TierPreview"];
                };
            };
        };
    };
    getBillingPrices: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        tiers: components["schemas"]["BillingTier"][];
                    };
                };
            };
        };
    };
    postBillingSeats: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSeats"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SeatsChanged"];
                };
            };
        };
    };
    getBillingSubscription: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["BillingSubscription"];
                };
            };
        };
    };
    getClusterNodes: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["ClusterNode"][];
                        nodes: components["schemas"]["ClusterNode"][];
                        source: "cluster_repository" | "local_fallback";
                    };
                };
            };
        };
    };
    getClusterStatus: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ClusterStatus"];
                };
            };
        };
    };
    getColonyInvitations: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "pending" | "accepted" | "cancelled" | "replaced" | "expired" | undefined;
                team_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        invitations: components["schemas"]["Invitation"][];
                        items: components["schemas"]["Invitation"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postColonyInvitations: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": {
                        invitation: components["schemas"]["IssuedInvitation"];
                    };
                };
            };
        };
    };
    deleteColonyInvitationsById: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "cancelled";
                    };
                };
            };
        };
    };
    postColonyInvitationsByTokenAccept: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                token: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        member: components["schemas"]["Member"];
                        team: components["schemas"]["Team"];
                    };
                };
            };
        };
    };
    postColonyInvitationsAccept: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        member: components["schemas"]["Member"];
                        team: components["schemas"]["Team"];
                    };
                };
            };
        };
    };
    getColonyMembers: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                team_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Member"][];
                        members: components["schemas"]["Member"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postColonyMembers: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMember"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["MemberInvited"];
                };
            };
        };
    };
    deleteColonyMembersById: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "removed" | "cancelled";
                    };
                };
            };
        };
    };
    patchColonyMembersById: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMemberRole"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    putColonyRoles: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleOfMember"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    getColonySaml: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Saml"];
                };
            };
        };
    };
    putColonySaml: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSaml"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Saml"];
                };
            };
        };
    };
    getColonySubscription: {
        parameters: {
            query?: {
                team_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ColonySubscription"];
                };
            };
        };
    };
    getColonyTeams: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Team"][];
                        next_cursor: string | null;
                        teams: components["schemas"]["Team"][];
                    };
                };
            };
        };
    };
    postColonyTeams: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTeam"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["TeamMade"];
                };
            };
        };
    };
    deleteColonyTeamsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                content?: never;
            };
        };
    };
    getCortexMetrics: {
        parameters: {
            query?: {
                metric_type?: "all" | "summary" | "patterns" | "skills" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CortexMetrics"];
                };
            };
        };
    };
    getCortexPatterns: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                error_type?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                q?: string | undefined;
                query?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["CortexPattern"][];
                        next_cursor: string | null;
                        patterns: components["schemas"]["CortexPattern"][];
                    };
                };
            };
        };
    };
    getCortexSkills: {
        parameters: {
            query?: {
                limit?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["CortexSkill"][];
                        skills: components["schemas"]["CortexSkill"][];
                    };
                };
            };
        };
    };
    getCredentials: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                provider?: string | undefined;
                status?: "pending_oauth" | "active" | "expired" | "revoked" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        credentials: components["schemas"]["Credential"][];
                        items: components["schemas"]["Credential"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getCredentialsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CredentialDetail"];
                };
            };
        };
    };
    deleteCredentialsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "revoked";
                    };
                };
            };
        };
    };
    getCredentialsByIdGrants: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        grants: components["schemas"]["CredentialGrant"][];
                        items: components["schemas"]["CredentialGrant"][];
                    };
                };
            };
        };
    };
    postCredentialsByIdGrants: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCredentialGrant"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CredentialGrant"];
                };
            };
            201: {
                content: {
                    "application/json": components["schemas"]["CredentialGrant"];
                };
            };
        };
    };
    deleteCredentialsByIdGrantsByGrantId: {
        parameters: {
            path: {
                grant_id: string;
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        grant_id: string;
                        status: "revoked";
                    };
                };
            };
        };
    };
    postCredentialsByIdRotate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CredentialRotation"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["CredentialRotated"];
                };
            };
        };
    };
    postCredentialsApiKey: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKeyCredential"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    postCredentialsApiKeys: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKeyCredential"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    postCredentialsDeviceInitiate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDeviceConsent"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeviceConsent"];
                };
            };
        };
    };
    postCredentialsDevicePoll: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DevicePoll"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeviceConsentState"];
                };
            };
        };
    };
    getCredentialsOauthCallback: {
        parameters: {
            query: {
                code?: string | undefined;
                error?: string | undefined;
                error_description?: string | undefined;
                error_uri?: string | undefined;
                iss?: string | undefined;
                scope?: string | undefined;
                session_state?: string | undefined;
                state: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["OAuthCompleted"];
                };
            };
        };
    };
    postCredentialsOauthCallback: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OAuthCallback"];
                "application/x-www-form-urlencoded": components["schemas"]["OAuthCallback"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["OAuthCompleted"];
                };
            };
            302: {
                content: {
                    "text/html": string;
                };
            };
        };
    };
    postCredentialsOauthDeviceInitiate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDeviceConsent"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeviceConsent"];
                };
            };
        };
    };
    postCredentialsOauthDevicePoll: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DevicePoll"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeviceConsentState"];
                };
            };
        };
    };
    postCredentialsOauthInitiate: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOAuthConsent"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["OAuthConsent"];
                };
            };
        };
    };
    getDashboardSummary: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                tenant_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
        };
    };
    getEdgeConnect: {
        parameters: {};
        responses: {
            101: {
                content?: never;
            };
        };
    };
    postEdgeDaemonEnroll: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": {
                    agent_version?: string | undefined;
                    name?: string | undefined;
                    public_key: string;
                    signature: string;
                    token: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        connect_url: string;
                        enrolled_at: string;
                        id: string;
                        key_fingerprint: string;
                        name: string;
                        node_id: string;
                        service_keys: {
                            kid: string;
                            public_key: string;
                        }[];
                        tags: string[];
                        tenant_id: string;
                    };
                };
            };
        };
    };
    postEdgeDaemonRotateKey: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": {
                    issued_at: number;
                    new_public_key: string;
                    node_id: string;
                    signature_new: string;
                    signature_old: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        key_fingerprint: string;
                        node_id: string;
                        pending: true;
                    };
                };
            };
        };
    };
    getEdgeEnrollmentTokens: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "outstanding" | "redeemed" | "expired" | "revoked" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        enrollment_tokens: components["schemas"]["EdgeEnrollmentToken"][];
                        items: components["schemas"]["EdgeEnrollmentToken"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postEdgeEnrollmentTokens: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody?: {
            content: {
                "application/json": {
                    issued_to?: string | undefined;
                    name?: string | undefined;
                    tags?: string[] | undefined;
                    team_tenant_id?: string | undefined;
                    ttl_seconds?: number | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["IssuedEdgeEnrollmentToken"];
                };
            };
        };
    };
    deleteEdgeEnrollmentTokensById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                content?: never;
            };
        };
    };
    postEdgeFleetByIdCancel: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunCancelled"];
                };
            };
        };
    };
    postEdgeFleetByIdPause: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunStanding"];
                };
            };
        };
    };
    postEdgeFleetByIdResume: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunStanding"];
                };
            };
        };
    };
    postEdgeFleetByIdRetry: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryFleetRun"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["FleetRunAccepted"];
                };
            };
        };
    };
    postEdgeFleetInvoke: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFleetRun"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["FleetRunAccepted"];
                };
            };
        };
    };
    postEdgeFleetPreview: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFleetPreview"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetPreview"];
                };
            };
        };
    };
    getEdgeFleetRuns: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                outcome?: "running" | "complete" | "halted" | "cancelled" | undefined;
                status?: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled" | undefined;
                tool?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["FleetRun"][];
                        next_cursor: string | null;
                        runs: components["schemas"]["FleetRun"][];
                    };
                };
            };
        };
    };
    getEdgeFleetRunsById: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                node_status?: "pending" | "dispatched" | "running" | "ok" | "err" | "timed_out" | "cancelled" | "refused" | "lost" | "expired" | "not_started" | undefined;
                offset?: number | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunDetail"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdCancel: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunCancelled"];
                };
            };
        };
    };
    getEdgeFleetRunsByIdEvents: {
        parameters: {
            query?: {
                from?: number | undefined;
            } | undefined;
            header?: {
                "Last-Event-ID"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdPause: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunStanding"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdResume: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetRunStanding"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdRetry: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryFleetRun"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["FleetRunAccepted"];
                };
            };
        };
    };
    getEdgeFleetRunsByIdStream: {
        parameters: {
            query?: {
                from?: number | undefined;
            } | undefined;
            header?: {
                "Last-Event-ID"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
        };
    };
    getEdgeGroups: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        groups: components["schemas"]["EdgeGroup"][];
                        items: components["schemas"]["EdgeGroup"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postEdgeGroups: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEdgeGroup"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeGroup"];
                };
            };
        };
    };
    getEdgeGroupsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeGroupDetail"];
                };
            };
        };
    };
    deleteEdgeGroupsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                content?: never;
            };
        };
    };
    patchEdgeGroupsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EdgeGroupChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeGroup"];
                };
            };
        };
    };
    getEdgeHosts: {
        parameters: {
            query?: {
                connected?: boolean | undefined;
                cursor?: string | undefined;
                include_revoked?: boolean | undefined;
                label?: string[] | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "connected" | "unhealthy" | "disconnected" | "revoked" | undefined;
                tag?: string[] | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        hosts: components["schemas"]["EdgeHost"][];
                        items: components["schemas"]["EdgeHost"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getEdgeHostsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeHostDetail"];
                };
            };
        };
    };
    deleteEdgeHostsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                content?: never;
            };
        };
    };
    patchEdgeHostsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EdgeHostChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeHost"];
                };
            };
        };
    };
    postEdgeHostsByIdTags: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EdgeHostTagsChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["EdgeHost"];
                };
            };
        };
    };
    getEdgeSettings: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetSettings"];
                };
            };
        };
    };
    putEdgeSettings: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["FleetSettingsChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FleetSettings"];
                };
            };
        };
    };
    getEvents: {
        parameters: {
            query?: {
                from?: string | undefined;
                types?: string | undefined;
            } | undefined;
            header?: {
                "last-event-id"?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["ChangeEvent"];
                };
            };
        };
    };
    getExecutions: {
        parameters: {
            query?: {
                agent_id?: string | undefined;
                cursor?: string | undefined;
                label?: string[] | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                parent_execution_id?: string | undefined;
                started_after?: string | undefined;
                started_before?: string | undefined;
                status?: string | undefined;
                workflow_execution_id?: string | undefined;
                workflow_name?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        executions: components["schemas"]["Execution"][];
                        items: components["schemas"]["Execution"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postExecutions: {
        parameters: {
            query?: {
                version?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
                Prefer?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartNamedExecution"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionStarted"];
                };
            };
        };
    };
    getExecutionsById: {
        parameters: {
            query?: {
                include?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionRecord"];
                };
            };
        };
    };
    deleteExecutionsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionDeleted"];
                };
            };
        };
    };
    postExecutionsByIdCancel: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelExecution"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionCancelled"];
                };
            };
        };
    };
    getExecutionsByIdEvents: {
        parameters: {
            query?: {
                events?: string | undefined;
                follow?: boolean | undefined;
                format?: "single" | "flat" | undefined;
                from?: number | undefined;
                token?: string | undefined;
                verbose?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["ExecutionEvent"];
                };
            };
        };
    };
    getExecutionsByIdFiles: {
        parameters: {
            query?: {
                path?: string | undefined;
                recursive?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        entries: components["schemas"]["FileEntry"][];
                        items: components["schemas"]["FileEntry"][];
                        truncated: boolean;
                    };
                };
            };
        };
    };
    getExecutionsByIdFilesByPath: {
        parameters: {
            path: {
                id: string;
                path: string;
            };
        };
        responses: {
            200: {
                content: {
                    "*/*": unknown;
                };
            };
            206: {
                content: {
                    "*/*": unknown;
                };
            };
            304: {
                content: {
                    "*/*": unknown;
                };
            };
        };
    };
    getExecutionsByIdIterations: {
        parameters: {
            query?: {
                include?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["IterationRecord"][];
                    };
                };
            };
        };
    };
    getExecutionsByIdIterationsByNumber: {
        parameters: {
            query?: {
                include?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            path: {
                id: string;
                number: number;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["IterationRecord"];
                };
            };
        };
    };
    postExecutionsByIdRetry: {
        parameters: {
            query?: {
                version?: string | undefined;
                wait_seconds?: number | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
                Prefer?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryExecution"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ExecutionRetried"];
                };
            };
        };
    };
    getExecutionsByIdStream: {
        parameters: {
            query?: {
                events?: string | undefined;
                follow?: boolean | undefined;
                format?: "single" | "flat" | undefined;
                from?: number | undefined;
                token?: string | undefined;
                verbose?: boolean | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["ExecutionEvent"];
                };
            };
        };
    };
    getHumanApprovals: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                descendants?: boolean | undefined;
                execution_id?: string | undefined;
                kind?: "workflow" | "fleet_run" | "tool_call" | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                workflow_name?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["PendingApproval"][];
                        next_cursor: string | null;
                        pending_requests: components["schemas"]["PendingApproval"][];
                    };
                };
            };
        };
    };
    getHumanApprovalsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        request: components["schemas"]["PendingApproval"];
                    } | {
                        code: "approval_not_pending";
                        error: string;
                        request_id: string;
                    };
                };
            };
        };
    };
    postHumanApprovalsByIdApprove: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Approve"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                };
            };
        };
    };
    getHumanApprovalsByIdArguments: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApprovalArguments"];
                };
            };
        };
    };
    getHumanApprovalsByIdHistory: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApprovalRecord"];
                };
            };
        };
    };
    postHumanApprovalsByIdLinks: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalLinkRequest"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["ApprovalLink"];
                };
            };
        };
    };
    postHumanApprovalsByIdReject: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reject"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                };
            };
        };
    };
    getHumanApprovalsHistory: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                decided_by?: string | undefined;
                execution_id?: string | undefined;
                from?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: string | undefined;
                to?: string | undefined;
                workflow_name?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        approvals: components["schemas"]["ApprovalRecord"][];
                        count: number;
                        items: components["schemas"]["ApprovalRecord"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postInvoke: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SealCall"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SealCallAnswer"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["SealCallAnswer"];
                };
            };
        };
    };
    postMcp: {
        parameters: {
            header?: {
                "X-Svc-Security-Context"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": unknown;
                };
            };
            202: {
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getModels: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
        };
    };
    getObservabilityDashboard: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                tenant_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
        };
    };
    getObservabilitySecurityIncidents: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                category?: string | undefined;
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                severity?: string | undefined;
                since?: string | undefined;
                tenant_id?: string | undefined;
                type?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        incidents: components["schemas"]["SecurityIncident"][];
                        items: components["schemas"]["SecurityIncident"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getObservabilityStorageViolations: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                category?: string | undefined;
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                severity?: string | undefined;
                since?: string | undefined;
                tenant_id?: string | undefined;
                type?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["StorageViolation"][];
                        next_cursor: string | null;
                        violations: components["schemas"]["StorageViolation"][];
                    };
                };
            };
        };
    };
    getPeople: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                q?: string | undefined;
                realm?: string | undefined;
                status?: "invited" | "active" | "locked" | "disabled" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Person"][];
                        next_cursor: string | null;
                        people: components["schemas"]["Person"][];
                    };
                };
            };
        };
    };
    postPeople: {
        parameters: {
            query?: {
                realm?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPerson"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["InvitedPerson"];
                };
            };
        };
    };
    deletePeopleById: {
        parameters: {
            query?: {
                realm?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "deleted";
                    };
                };
            };
        };
    };
    patchPeopleById: {
        parameters: {
            query?: {
                realm?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    postPeopleByIdReset: {
        parameters: {
            query?: {
                realm?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PersonReset"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        reset_url: string | null;
                        status: "reset_sent";
                    };
                };
            };
        };
    };
    getRuntimes: {
        parameters: {
            query?: {
                language?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Runtimes"];
                };
            };
        };
    };
    getSamples: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Sample"][];
                        next_cursor: string | null;
                        samples: components["schemas"]["Sample"][];
                    };
                };
            };
        };
    };
    postSealAttest: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["Attest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SealAttestation"];
                };
            };
        };
    };
    postSealInvoke: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SealCall"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SealCallAnswer"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["SealCallAnswer"];
                };
            };
        };
    };
    getSealSessions: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "active" | "expired" | "revoked" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["SealSession"][];
                        next_cursor: string | null;
                        sessions: components["schemas"]["SealSession"][];
                    };
                };
            };
        };
    };
    postSealSessions: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSealSession"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["SealSessionOpened"];
                };
            };
        };
    };
    getSealSessionsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SealSessionDetail"];
                };
            };
        };
    };
    deleteSealSessionsById: {
        parameters: {
            query?: {
                reason?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        execution_id: string;
                        revoked_at: string;
                        session_ids: string[];
                        session_status: "revoked";
                        status: "success";
                    };
                };
            };
        };
    };
    getSealTools: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                q?: string | undefined;
                security_context?: string | undefined;
                source?: string | undefined;
            } | undefined;
            header?: {
                "x-svc-security-context"?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        attestation_endpoint: string;
                        count: number;
                        invoke_endpoint: string;
                        items: components["schemas"]["Tool"][];
                        next_cursor: string | null;
                        protocol: "seal/v1";
                        security_context: string | null;
                        tools: components["schemas"]["Tool"][];
                    };
                };
            };
        };
    };
    getSecrets: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                path_prefix?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["SecretEntry"][];
                        next_cursor: string | null;
                        secrets: components["schemas"]["SecretEntry"][];
                    };
                };
            };
        };
    };
    getSecretsByPath: {
        parameters: {
            path: {
                path: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
        };
    };
    putSecretsByPath: {
        parameters: {
            header?: {
                "If-Match"?: string | undefined;
                "If-None-Match"?: string | undefined;
            } | undefined;
            path: {
                path: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecretWritten"];
                };
            };
        };
    };
    postSecretsByPath: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
                "If-Match"?: string | undefined;
                "If-None-Match"?: string | undefined;
            } | undefined;
            path: {
                path: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecretWritten"];
                };
            };
        };
    };
    deleteSecretsByPath: {
        parameters: {
            path: {
                path: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedByPath"];
                };
            };
        };
    };
    getSecurityContexts: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["SecurityContext"][];
                        next_cursor: string | null;
                        security_contexts: components["schemas"]["SecurityContext"][];
                    };
                };
            };
        };
    };
    postSecurityContexts: {
        parameters: {
            query?: {
                dry_run?: boolean | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecurityContext"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
            201: {
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    getSecurityContextsByName: {
        parameters: {
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    putSecurityContextsByName: {
        parameters: {
            query?: {
                dry_run?: boolean | undefined;
            } | undefined;
            header?: {
                "If-Match"?: string | undefined;
            } | undefined;
            path: {
                name: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecurityContextChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    deleteSecurityContextsByName: {
        parameters: {
            query?: {
                force?: boolean | undefined;
            } | undefined;
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedByName"];
                };
            };
        };
    };
    postSecurityContextsByNameEvaluate: {
        parameters: {
            path: {
                name: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluateCall"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecurityContextVerdict"];
                };
            };
        };
    };
    getSecurityIncidents: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                category?: string | undefined;
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                severity?: string | undefined;
                since?: string | undefined;
                tenant_id?: string | undefined;
                type?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        incidents: components["schemas"]["SecurityIncident"][];
                        items: components["schemas"]["SecurityIncident"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getStimuli: {
        parameters: {
            query?: {
                channel?: "api" | "webhook" | "replay" | undefined;
                cursor?: string | undefined;
                dead_letter?: boolean | undefined;
                from?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                source?: string | undefined;
                status?: string | undefined;
                to?: string | undefined;
                workflow_execution_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["StimulusElement"][];
                        next_cursor: string | null;
                        stimuli: components["schemas"]["StimulusElement"][];
                    };
                };
            };
        };
    };
    postStimuli: {
        parameters: {
            header?: {
                "idempotency-key"?: string | undefined;
                prefer?: string | undefined;
                "x-idempotency-key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewStimulus"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimulusRouted"] | components["schemas"]["StimulusIgnored"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    getStimuliById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimulusDetail"];
                };
            };
        };
    };
    postStimuliByIdDiscard: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DiscardStimulus"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Stimulus"];
                };
            };
        };
    };
    postStimuliByIdReplay: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayStimulus"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimulusReplayed"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["ReplayReceived"];
                };
            };
        };
    };
    getStimuliDeadLetters: {
        parameters: {
            query?: {
                channel?: "api" | "webhook" | "replay" | undefined;
                cursor?: string | undefined;
                from?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                source?: string | undefined;
                status?: string | undefined;
                to?: string | undefined;
                workflow_execution_id?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["StimulusElement"][];
                        next_cursor: string | null;
                        stimuli: components["schemas"]["StimulusElement"][];
                    };
                };
            };
        };
    };
    postStimuliDeadLettersReplay: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayStimuli"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimuliReplayed"];
                };
            };
        };
    };
    getStimulusRoutes: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                source?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Source"][];
                        next_cursor: string | null;
                        routes: components["schemas"]["Source"][];
                    };
                };
            };
        };
    };
    postStimulusRoutes: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSource"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    getStimulusRoutesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    putStimulusRoutesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SourceChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    deleteStimulusRoutesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SourceDeleted"];
                };
            };
        };
    };
    patchStimulusRoutesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SourceChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    postStimulusRoutesByIdRotateSecret: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SecretRotated"];
                };
            };
        };
    };
    getStimulusRoutesRouter: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
        };
    };
    putStimulusRoutesRouter: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["RouterRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
        };
    };
    deleteStimulusRoutesRouter: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["RouterDeleted"];
                };
            };
        };
    };
    getStorageViolations: {
        parameters: {
            query?: {
                all_tenants?: boolean | undefined;
                category?: string | undefined;
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                severity?: string | undefined;
                since?: string | undefined;
                tenant_id?: string | undefined;
                type?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["StorageViolation"][];
                        next_cursor: string | null;
                        violations: components["schemas"]["StorageViolation"][];
                    };
                };
            };
        };
    };
    getSwarms: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                status?: "active" | "dissolving" | "dissolved" | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Swarm"][];
                        next_cursor: string | null;
                        swarms: components["schemas"]["Swarm"][];
                    };
                };
            };
        };
    };
    getSwarmsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["SwarmDetail"];
                };
            };
        };
    };
    postSwarmsByIdCancel: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Swarm"];
                };
            };
        };
    };
    getTeams: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Team"][];
                        next_cursor: string | null;
                        teams: components["schemas"]["Team"][];
                    };
                };
            };
        };
    };
    postTeams: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTeam"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["TeamMade"];
                };
            };
        };
    };
    deleteTeamsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            204: {
                content?: never;
            };
        };
    };
    getToolInvocations: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                decision?: "allow" | "deny" | undefined;
                execution_id?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                outcome?: "waiting" | "running" | "success" | "failed" | "interrupted" | "withdrawn" | undefined;
                session_id?: string | undefined;
                since?: string | undefined;
                tool_name?: string | undefined;
                until?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        invocations: components["schemas"]["ToolInvocation"][];
                        items: components["schemas"]["ToolInvocation"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getToolInvocationsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ToolInvocationDetail"];
                };
            };
        };
    };
    getToolServers: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["ToolServer"][];
                        next_cursor: string | null;
                        tool_servers: components["schemas"]["ToolServer"][];
                    };
                };
            };
        };
    };
    postToolServers: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToolServer"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByName: {
        parameters: {
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    deleteToolServersByName: {
        parameters: {
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedByName"];
                };
            };
        };
    };
    patchToolServersByName: {
        parameters: {
            path: {
                name: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolServerChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    postToolServersByNameAccept: {
        parameters: {
            path: {
                name: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    tools?: string[] | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByNameLogs: {
        parameters: {
            query?: {
                limit?: number | undefined;
            } | undefined;
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["ServerLogLine"][];
                        logs: components["schemas"]["ServerLogLine"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postToolServersByNameRestart: {
        parameters: {
            path: {
                name: string;
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByNameTools: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
            path: {
                name: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["ServerTool"][];
                        next_cursor: string | null;
                        tools: components["schemas"]["ServerTool"][];
                    };
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                from?: string | undefined;
                group_by?: "day" | "agent" | "model" | "workflow" | "tool" | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                to?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
        };
    };
    getUserRateLimits: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["UserRates"];
                };
            };
        };
    };
    getUserRateLimitsUsage: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["UserRates"];
                };
            };
        };
    };
    getVolumes: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                label?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Volume"][];
                        next_cursor: string | null;
                        total_count: number;
                        total_quota_bytes: number;
                        volumes: components["schemas"]["Volume"][];
                    };
                };
            };
        };
    };
    postVolumes: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVolume"];
            };
        };
        responses: {
            201: {
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    getVolumesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    deleteVolumesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        id: string;
                        status: "deleted";
                        success: true;
                    };
                };
            };
        };
    };
    patchVolumesById: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeChange"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    getVolumesByIdFiles: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                path?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        entries: components["schemas"]["FileEntry"][];
                        items: components["schemas"]["FileEntry"][];
                        next_cursor: string | null;
                        path: string;
                    };
                };
            };
        };
    };
    deleteVolumesByIdFiles: {
        parameters: {
            query: {
                path: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedByPath"];
                };
            };
        };
    };
    getVolumesByIdFilesDownload: {
        parameters: {
            query: {
                path: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "*/*": unknown;
                };
            };
            206: {
                content: {
                    "*/*": unknown;
                };
            };
            304: {
                content: {
                    "*/*": unknown;
                };
            };
        };
    };
    postVolumesByIdFilesMkdir: {
        parameters: {
            query?: {
                path?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MakeDirectory"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        created_at: string;
                        path: string;
                        status: "created";
                    };
                };
            };
        };
    };
    postVolumesByIdFilesMove: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveFileInput"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        from: string;
                        moved_at: string;
                        status: "moved";
                        to: string;
                    };
                };
            };
        };
    };
    getVolumesByIdFilesStat: {
        parameters: {
            query?: {
                path?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        is_dir: boolean;
                        mime_type: string | null;
                        modified_at: string;
                        name: string;
                        path: string;
                        sha256: string | null;
                        size: number;
                        size_bytes: number;
                        type: "file" | "dir";
                    };
                };
            };
        };
    };
    postVolumesByIdFilesUpload: {
        parameters: {
            query?: {
                path?: string | undefined;
            } | undefined;
            header?: {
                "X-Filename"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
                "multipart/form-data": {
                    file: string;
                    path?: string | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["FileUploaded"];
                };
            };
        };
    };
    getVolumesQuota: {
        parameters: {};
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StorageQuota"];
                };
            };
        };
    };
    postWebhooksBySource: {
        parameters: {
            header?: {
                prefer?: string | undefined;
                "x-idempotency-key"?: string | undefined;
                "x-svc-signature"?: string | undefined;
            } | undefined;
            path: {
                source: string;
            };
        };
        requestBody: {
            content: {
                "*/*": string;
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimulusRouted"] | ({
                        challenge: unknown;
                    } | {
                        status: "pong";
                        stimulus_id: null;
                        workflow_execution_id: null;
                    }) | components["schemas"]["StimulusIgnored"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    postWebhooksBySourceByRouteId: {
        parameters: {
            header?: {
                prefer?: string | undefined;
                "x-idempotency-key"?: string | undefined;
                "x-svc-signature"?: string | undefined;
            } | undefined;
            path: {
                route_id: string;
                source: string;
            };
        };
        requestBody: {
            content: {
                "*/*": string;
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["StimulusRouted"] | ({
                        challenge: unknown;
                    } | {
                        status: "pong";
                        stimulus_id: null;
                        workflow_execution_id: null;
                    }) | components["schemas"]["StimulusIgnored"];
                };
            };
            202: {
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    postWebhooksStripe: {
        parameters: {
            header: {
                "Stripe-Signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    type: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        duplicate?: true | undefined;
                        received: true;
                    };
                };
            };
        };
    };
    getWorkflows: {
        parameters: {
            query?: {
                all_versions?: boolean | undefined;
                cursor?: string | undefined;
                label?: string[] | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                q?: string | undefined;
                scope?: "tenant" | "global" | undefined;
                tag?: string | undefined;
                visible?: boolean | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["Workflow"][];
                        next_cursor: string | null;
                        workflows: components["schemas"]["Workflow"][];
                    };
                };
            };
        };
    };
    postWorkflows: {
        parameters: {
            query?: {
                force?: boolean | undefined;
                scope?: "tenant" | "global" | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
                "application/yaml": string;
                "text/plain": string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRegistered"];
                };
            };
        };
    };
    getWorkflowsByRef: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowDetail"];
                };
            };
        };
    };
    deleteWorkflowsByRef: {
        parameters: {
            query?: {
                force?: boolean | undefined;
                version?: string | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowDeleted"];
                };
            };
        };
    };
    postWorkflowsByRefExecute: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartWorkflow"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsByRefRun: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartWorkflow"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    getWorkflowsByRefSchedules: {
        parameters: {
            path: {
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["WorkflowSchedule"][];
                        schedules: components["schemas"]["WorkflowSchedule"][];
                    };
                };
            };
        };
    };
    getWorkflowsByRefSchedulesById: {
        parameters: {
            path: {
                id: string;
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdBackfill: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
                ref: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    from: string;
                    overlap?: "skip" | "queue" | "allow" | "cancel_previous" | undefined;
                    to: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        skipped: number;
                        started: number;
                    };
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdPause: {
        parameters: {
            path: {
                id: string;
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdResume: {
        parameters: {
            path: {
                id: string;
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdRun: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
                ref: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    input?: unknown | undefined;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsByRefScope: {
        parameters: {
            path: {
                ref: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowScopeChanged"];
                };
            };
        };
    };
    patchWorkflowsByRefScope: {
        parameters: {
            path: {
                ref: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowScopeChanged"];
                };
            };
        };
    };
    getWorkflowsByRefVersions: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["WorkflowVersion"][];
                        next_cursor: string | null;
                        versions: components["schemas"]["WorkflowVersion"][];
                    };
                };
            };
        };
    };
    getWorkflowsByRefVersionsByADiffByB: {
        parameters: {
            path: {
                a: string;
                b: string;
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowVersionsDiff"];
                };
            };
        };
    };
    getWorkflowsByRefYaml: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            path: {
                ref: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/yaml": string;
                };
            };
        };
    };
    getWorkflowsExecutions: {
        parameters: {
            query?: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                parent_execution_id?: string | undefined;
                schedule_id?: string | undefined;
                started_after?: string | undefined;
                started_before?: string | undefined;
                status?: string | undefined;
                workflow_id?: string | undefined;
                workflow_name?: string | undefined;
            } | undefined;
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        executions: components["schemas"]["WorkflowRun"][];
                        items: components["schemas"]["WorkflowRun"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getWorkflowsExecutionsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    deleteWorkflowsExecutionsById: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRunRemoved"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdCancel: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    compensate?: boolean | undefined;
                    reason?: string | undefined;
                };
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": components["schemas"]["WorkflowCancelRequested"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdEvents: {
        parameters: {
            query?: {
                follow?: boolean | undefined;
                from?: number | undefined;
                token?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdFork: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkWorkflow"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowForked"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdGraph: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRunGraph"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdItems: {
        parameters: {
            query: {
                cursor?: string | undefined;
                limit?: number | undefined;
                offset?: number | undefined;
                state: string;
                status?: "pending" | "running" | "completed" | "failed" | "cancelled" | undefined;
                visit?: number | undefined;
            };
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["RunItem"][];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postWorkflowsExecutionsByIdItemsByIndexCancel: {
        parameters: {
            path: {
                id: string;
                index: number;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    state: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["RunItem"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdItemsByIndexRetry: {
        parameters: {
            path: {
                id: string;
                index: number;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    state: string;
                };
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["RunItem"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdLogs: {
        parameters: {
            query?: {
                limit?: number | undefined;
                offset?: number | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowLog"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdLogsStream: {
        parameters: {
            query?: {
                follow?: boolean | undefined;
                from?: number | undefined;
                token?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdPause: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdResume: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdRetry: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryWorkflow"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRetried"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdSignal: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SignalWorkflow"];
            };
        };
        responses: {
            202: {
                content: {
                    "application/json": components["schemas"]["WorkflowSignalled"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdStream: {
        parameters: {
            query?: {
                follow?: boolean | undefined;
                from?: number | undefined;
                token?: string | undefined;
            } | undefined;
            path: {
                id: string;
            };
        };
        responses: {
            200: {
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsMigrate: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateWorkflows"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowsMigrated"];
                };
            };
        };
    };
    postWorkflowsTemporalExecute: {
        parameters: {
            query?: {
                version?: string | undefined;
            } | undefined;
            header?: {
                "Idempotency-Key"?: string | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartNamedWorkflow"];
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsTemporalRegister: {
        parameters: {
            query?: {
                force?: boolean | undefined;
                scope?: "tenant" | "global" | undefined;
            } | undefined;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
                "application/yaml": string;
                "text/plain": string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowRegistered"];
                };
            };
        };
    };
    postWorkflowsValidate: {
        parameters: {};
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
                "application/yaml": string;
                "text/plain": string;
            };
        };
        responses: {
            200: {
                content: {
                    "application/json": components["schemas"]["WorkflowJudgement"];
                };
            };
        };
    };
}
