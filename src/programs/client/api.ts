/** Generated from the API document: `PIN=1 bun test test/pins/openapi.test.ts` writes it. Do not change it by hand. */

export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWellKnownJwksJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource/v1/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWellKnownOauthProtectedResourceMcp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealthLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealthReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/realms/{realm}/.well-known/openid-configuration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRealmsByRealmWellKnownOpenidConfiguration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/realms/{realm}/protocol/openid-connect/certs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRealmsByRealmProtocolOpenidConnectCerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/realms/{realm}/protocol/openid-connect/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postRealmsByRealmProtocolOpenidConnectToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/agent.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSchemasAgentJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/workflow.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSchemasWorkflowJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/dead-letters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminDeadLettersById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/dead-letters/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAdminDeadLettersByIdReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/llm/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAdminLlmReload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rate-limits/overrides": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminRateLimitsOverrides"];
        put?: never;
        post: operations["postAdminRateLimitsOverrides"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rate-limits/overrides/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteAdminRateLimitsOverridesById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rate-limits/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminRateLimitsUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminTenants"];
        put?: never;
        post: operations["postAdminTenants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAdminTenantsBySlug"];
        put?: never;
        post?: never;
        delete: operations["deleteAdminTenantsBySlug"];
        options?: never;
        head?: never;
        patch: operations["patchAdminTenantsBySlug"];
        trace?: never;
    };
    "/v1/admin/tenants/{slug}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAdminTenantsBySlugRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{slug}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAdminTenantsBySlugResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tenants/{slug}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAdminTenantsBySlugSuspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgents"];
        put?: never;
        post: operations["postAgents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentsById"];
        put?: never;
        post?: never;
        delete: operations["deleteAgentsById"];
        options?: never;
        head?: never;
        patch: operations["patchAgentsById"];
        trace?: never;
    };
    "/v1/agents/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAgentsByIdExecute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAgentsByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAgentsByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAgentsByIdRollback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/scope": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postAgentsByIdScope"];
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patchAgentsByIdScope"];
        trace?: never;
    };
    "/v1/agents/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentsByIdStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentsByIdVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/lookup/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAgentsLookupByName"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getApiKeys"];
        put?: never;
        post: operations["postApiKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getApiKeysById"];
        put?: never;
        post?: never;
        delete: operations["deleteApiKeysById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postApiKeysByIdRotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postApiKeysValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approval-links/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getApprovalLinksByToken"];
        put?: never;
        post: operations["postApprovalLinksByToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAuthConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/change-tier": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postBillingChangeTier"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postBillingCheckout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBillingInvoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postBillingPortal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/preview-tier-change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postBillingPreviewTierChange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBillingPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/seats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postBillingSeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/billing/subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBillingSubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getClusterNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cluster/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getClusterStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getColonyInvitations"];
        put?: never;
        post: operations["postColonyInvitations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/invitations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteColonyInvitationsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/invitations/{token}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postColonyInvitationsByTokenAccept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postColonyInvitationsAccept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getColonyMembers"];
        put?: never;
        post: operations["postColonyMembers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/members/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteColonyMembersById"];
        options?: never;
        head?: never;
        patch: operations["patchColonyMembersById"];
        trace?: never;
    };
    "/v1/colony/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["putColonyRoles"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/saml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getColonySaml"];
        put: operations["putColonySaml"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getColonySubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getColonyTeams"];
        put?: never;
        post: operations["postColonyTeams"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/colony/teams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteColonyTeamsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cortex/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCortexMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cortex/patterns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCortexPatterns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cortex/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCortexSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCredentialsById"];
        put?: never;
        post?: never;
        delete: operations["deleteCredentialsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCredentialsByIdGrants"];
        put?: never;
        post: operations["postCredentialsByIdGrants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/grants/{grant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteCredentialsByIdGrantsByGrantId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsByIdRotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsApiKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/device/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsDeviceInitiate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/device/poll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsDevicePoll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/oauth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCredentialsOauthCallback"];
        put?: never;
        post: operations["postCredentialsOauthCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/oauth/device/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsOauthDeviceInitiate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/oauth/device/poll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsOauthDevicePoll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/oauth/initiate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postCredentialsOauthInitiate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dashboard/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDashboardSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeConnect"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/daemon/enroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeDaemonEnroll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/daemon/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeDaemonRotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/enrollment-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeEnrollmentTokens"];
        put?: never;
        post: operations["postEdgeEnrollmentTokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/enrollment-tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteEdgeEnrollmentTokensById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/invoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetInvoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetPreview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeFleetRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeFleetRunsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetRunsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeFleetRunsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetRunsByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetRunsByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeFleetRunsByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/fleet/runs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeFleetRunsByIdStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeGroups"];
        put?: never;
        post: operations["postEdgeGroups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeGroupsById"];
        put?: never;
        post?: never;
        delete: operations["deleteEdgeGroupsById"];
        options?: never;
        head?: never;
        patch: operations["patchEdgeGroupsById"];
        trace?: never;
    };
    "/v1/edge/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/hosts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeHostsById"];
        put?: never;
        post?: never;
        delete: operations["deleteEdgeHostsById"];
        options?: never;
        head?: never;
        patch: operations["patchEdgeHostsById"];
        trace?: never;
    };
    "/v1/edge/hosts/{id}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postEdgeHostsByIdTags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edge/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEdgeSettings"];
        put: operations["putEdgeSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutions"];
        put?: never;
        post: operations["postExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsById"];
        put?: never;
        post?: never;
        delete: operations["deleteExecutionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postExecutionsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/files/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdFilesByPath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/iterations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdIterations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/iterations/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdIterationsByNumber"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postExecutionsByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/executions/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getExecutionsByIdStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHumanApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHumanApprovalsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postHumanApprovalsByIdApprove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}/arguments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHumanApprovalsByIdArguments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHumanApprovalsByIdHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postHumanApprovalsByIdLinks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postHumanApprovalsByIdReject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/human-approvals/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHumanApprovalsHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postInvoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observability/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getObservabilityDashboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observability/security-incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getObservabilitySecurityIncidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observability/storage-violations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getObservabilityStorageViolations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPeople"];
        put?: never;
        post: operations["postPeople"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/people/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deletePeopleById"];
        options?: never;
        head?: never;
        patch: operations["patchPeopleById"];
        trace?: never;
    };
    "/v1/people/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postPeopleByIdReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runtimes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRuntimes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seal/attest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postSealAttest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seal/invoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postSealInvoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seal/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSealSessions"];
        put?: never;
        post: operations["postSealSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seal/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSealSessionsById"];
        put?: never;
        post?: never;
        delete: operations["deleteSealSessionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seal/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSealTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/secrets/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSecretsByPath"];
        put: operations["putSecretsByPath"];
        post: operations["postSecretsByPath"];
        delete: operations["deleteSecretsByPath"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/security-contexts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSecurityContexts"];
        put?: never;
        post: operations["postSecurityContexts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/security-contexts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSecurityContextsByName"];
        put: operations["putSecurityContextsByName"];
        post?: never;
        delete: operations["deleteSecurityContextsByName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/security-contexts/{name}/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postSecurityContextsByNameEvaluate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/security/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSecurityIncidents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimuli"];
        put?: never;
        post: operations["postStimuli"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimuliById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postStimuliByIdDiscard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postStimuliByIdReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimuliDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimuli/dead-letters/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postStimuliDeadLettersReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimulus-routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimulusRoutes"];
        put?: never;
        post: operations["postStimulusRoutes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimulus-routes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimulusRoutesById"];
        put: operations["putStimulusRoutesById"];
        post?: never;
        delete: operations["deleteStimulusRoutesById"];
        options?: never;
        head?: never;
        patch: operations["patchStimulusRoutesById"];
        trace?: never;
    };
    "/v1/stimulus-routes/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postStimulusRoutesByIdRotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stimulus-routes/router": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStimulusRoutesRouter"];
        put: operations["putStimulusRoutesRouter"];
        post?: never;
        delete: operations["deleteStimulusRoutesRouter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/storage/violations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStorageViolations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/swarms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSwarms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/swarms/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSwarmsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/swarms/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postSwarmsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTeams"];
        put?: never;
        post: operations["postTeams"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/teams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteTeamsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-invocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolInvocations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-invocations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolInvocationsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolServers"];
        put?: never;
        post: operations["postToolServers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolServersByName"];
        put?: never;
        post?: never;
        delete: operations["deleteToolServersByName"];
        options?: never;
        head?: never;
        patch: operations["patchToolServersByName"];
        trace?: never;
    };
    "/v1/tool-servers/{name}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postToolServersByNameAccept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-servers/{name}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolServersByNameLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-servers/{name}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postToolServersByNameRestart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tool-servers/{name}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getToolServersByNameTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/rate-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUserRateLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/rate-limits/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUserRateLimitsUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumes"];
        put?: never;
        post: operations["postVolumes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumesById"];
        put?: never;
        post?: never;
        delete: operations["deleteVolumesById"];
        options?: never;
        head?: never;
        patch: operations["patchVolumesById"];
        trace?: never;
    };
    "/v1/volumes/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumesByIdFiles"];
        put?: never;
        post?: never;
        delete: operations["deleteVolumesByIdFiles"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}/files/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumesByIdFilesDownload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}/files/mkdir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postVolumesByIdFilesMkdir"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}/files/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postVolumesByIdFilesMove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}/files/stat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumesByIdFilesStat"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{id}/files/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postVolumesByIdFilesUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getVolumesQuota"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{source}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWebhooksBySource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{source}/{route_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWebhooksBySourceByRouteId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/stripe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWebhooksStripe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflows"];
        put?: never;
        post: operations["postWorkflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRef"];
        put?: never;
        post?: never;
        delete: operations["deleteWorkflowsByRef"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefExecute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRefSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRefSchedulesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules/{id}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefSchedulesByIdBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefSchedulesByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefSchedulesByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/schedules/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefSchedulesByIdRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/scope": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsByRefScope"];
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patchWorkflowsByRefScope"];
        trace?: never;
    };
    "/v1/workflows/{ref}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRefVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/versions/{a}/diff/{b}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRefVersionsByADiffByB"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{ref}/yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsByRefYaml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsById"];
        put?: never;
        post?: never;
        delete: operations["deleteWorkflowsExecutionsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdFork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/items/{index}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdItemsByIndexCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/items/{index}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdItemsByIndexRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/logs/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdLogsStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/signal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsByIdSignal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWorkflowsExecutionsByIdStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/executions/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsExecutionsMigrate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/temporal/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsTemporalExecute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/temporal/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsTemporalRegister"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["postWorkflowsValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
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
            } | null;
            kind: "Agent";
            metadata: {
                annotations?: {
                    [key: string]: string;
                } | null;
                description?: string | null;
                labels?: {
                    [key: string]: string;
                } | null;
                name: string;
                tags: string[] | null;
                version: string;
            };
            spec: {
                advanced?: {
                    bootstrap_path?: string | null;
                    health_check?: unknown;
                    startup_script?: string | null;
                    swarm_enabled: boolean | null;
                    warm_pool_size: number | null;
                } | null;
                context: components["schemas"]["AgentManifest.ContextItem"][] | null;
                env?: {
                    [key: string]: string;
                } | null;
                environment?: {
                    [key: string]: string;
                } | null;
                execution?: {
                    delivery?: {
                        destinations?: ({
                            condition: "on_success" | "on_failure" | "always" | null;
                            headers?: {
                                [key: string]: string;
                            } | null;
                            method: "POST" | "PUT" | "PATCH" | null;
                            name?: string | null;
                            secret?: string | null;
                            type: "webhook";
                            url: string;
                        } | {
                            condition: "on_success" | "on_failure" | "always" | null;
                            headers?: {
                                [key: string]: string;
                            } | null;
                            method: "POST" | "PUT" | "PATCH" | null;
                            name?: string | null;
                            secret?: string | null;
                            type: "rest";
                            url: string;
                        })[] | null;
                    } | null;
                    iteration_timeout?: number | string | null;
                    llm_timeout_seconds: number | null;
                    max_iterations?: number | null;
                    max_retries?: number | null;
                    max_tokens?: number | null;
                    memory: boolean | null;
                    mode?: "one-shot" | "iterative" | null;
                    tool_validation: {
                        criteria: string;
                        judge_agent: string;
                        min_confidence: number | null;
                        min_score: number | null;
                        timeout_seconds: number | null;
                        type?: "semantic" | null;
                    }[] | null;
                    validation?: components["schemas"]["AgentManifest.Validator"][] | {
                        output?: {
                            flags?: unknown;
                            min_confidence: number | null;
                            min_score: number | null;
                            regex?: string | null;
                            schema?: Record<string, never> | boolean | null;
                            schema_path?: unknown | null;
                            script?: unknown | null;
                            target?: unknown;
                            target_path?: unknown;
                        } | null;
                        schema_path?: unknown | null;
                        script?: unknown | null;
                        semantic?: {
                            criteria?: string | null;
                            judge_agent: string;
                            min_confidence: number | null;
                            min_score?: number | null;
                            prompt?: unknown;
                            schema_path?: unknown | null;
                            script?: unknown | null;
                            threshold?: number | null;
                            timeout_seconds: number | null;
                        } | null;
                        system?: {
                            exit_code: number | null;
                            min_confidence: number | null;
                            min_score: number | null;
                            schema_path?: unknown | null;
                            script?: unknown | null;
                        } | null;
                    } | null;
                } | null;
                input_schema?: Record<string, never> | boolean | null;
                output_handler?: ({
                    agent_id: string;
                    input_template: string | null;
                    required: boolean | null;
                    timeout_seconds: number | null;
                    type: "agent";
                } | {
                    body_template?: string | null;
                    headers?: {
                        [key: string]: string;
                    } | null;
                    method: "POST" | "PUT" | "PATCH" | null;
                    required: boolean | null;
                    retry?: {
                        max_attempts: number | null;
                    } | null;
                    timeout_seconds: number | null;
                    type: "webhook";
                    url: string;
                }) | null;
                runtime: {
                    image?: string | null;
                    image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
                    isolation: "inherit" | "docker" | "process" | "firecracker" | null;
                    language?: string | null;
                    model: string | null;
                    registry_credentials?: string | null;
                    temperature?: number | null;
                    version?: string | null;
                };
                schedule?: ({
                    cron: string;
                    enabled: boolean | null;
                    timezone: string | null;
                    type: "cron";
                } | {
                    enabled: boolean | null;
                    seconds: number;
                    type: "interval";
                } | {
                    enabled: boolean | null;
                    type: "manual";
                }) | null;
                security?: {
                    filesystem?: {
                        read: string[] | null;
                        read_only: boolean | null;
                        write: string[] | null;
                    } | null;
                    network?: {
                        allowlist: string[] | null;
                        denylist: string[] | null;
                        mode: "none" | "deny" | "allow" | null;
                    } | null;
                    resources?: {
                        cpu: number | string | null;
                        disk: number | string | null;
                        memory: number | string | null;
                        timeout?: number | string | null;
                    } | null;
                } | null;
                security_context?: string | null;
                task: {
                    agentskills: string[] | null;
                    input_data?: unknown;
                    instruction: string;
                    prompt_template?: string | null;
                };
                tools: components["schemas"]["AgentManifest.Tool"][] | null;
                volumes: components["schemas"]["AgentManifest.Volume"][] | null;
            };
        };
        "AgentManifest.ContextItem": {
            content: string;
            description?: string | null;
            type: "text";
        } | {
            description?: string | null;
            type: "url";
            url: string;
        } | {
            description?: string | null;
            path: string;
            type: "file";
        } | {
            description?: string | null;
            path: string;
            type: "directory";
        };
        "AgentManifest.Tool": string | {
            approval?: {
                approvers: string[] | null;
                editable: boolean | null;
                elicit: boolean | null;
                forbid_initiator: boolean | null;
                on_timeout: "reject" | "fail" | null;
                quorum: number | null;
                remember?: "execution" | "tool" | null;
                timeout_seconds: number | null;
                when?: string | null;
            } | null;
            name: string;
            skip_judge: boolean | null;
        };
        "AgentManifest.Validator": {
            expected: number | null;
            min_confidence: number | null;
            min_score: number | null;
            schema_path?: unknown | null;
            script?: unknown | null;
            type: "exit_code";
        } | {
            min_confidence: number | null;
            min_score: number | null;
            schema: Record<string, never> | boolean;
            schema_path?: unknown | null;
            script?: unknown | null;
            target_path?: string | null;
            type: "json_schema";
        } | {
            flags: string | null;
            min_confidence: number | null;
            min_score: number | null;
            pattern: string;
            schema_path?: unknown | null;
            script?: unknown | null;
            target: "stdout" | "stderr" | null;
            type: "regex";
        } | {
            criteria: string;
            judge_agent: string;
            min_confidence: number | null;
            min_score: number | null;
            schema_path?: unknown | null;
            script?: unknown | null;
            timeout_seconds: number | null;
            type: "semantic";
        } | {
            consensus: "weighted_average" | "majority" | "unanimous" | "best_of_n" | null;
            criteria: string;
            judges: (string | {
                agent: string;
                weight: number | null;
            })[];
            min_confidence: number | null;
            min_judges_required: number | null;
            min_score: number | null;
            n?: unknown;
            schema_path?: unknown | null;
            script?: unknown | null;
            threshold: number | null;
            timeout_seconds: number | null;
            type: "multi_judge";
        };
        "AgentManifest.Volume": {
            access_mode: "read-only" | "read-write" | null;
            mount_path: string;
            name: string;
            size_limit?: unknown;
            source?: {
                path?: string | null;
                volume_id?: string | null;
            } | null;
            storage_class?: "ephemeral" | "persistent" | null;
            ttl_hours?: unknown;
            type?: string | null;
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
            revision?: number;
            version?: string;
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
            scope?: "tenant" | "global";
            target_scope?: "tenant" | "global";
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
            expires_at?: string;
            grace_seconds: number;
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
                    realm?: string;
                    sub: string | null;
                } | null;
                kind: string;
                realm?: string;
                sub: string | null;
            } | null;
            decision: string | null;
            default_response: string | null;
            escalated_at: string | null;
            events: components["schemas"]["ApprovalEvent"][];
            execution_id: string;
            expires_at: string;
            feedback: string | null;
            fleet_command_id?: string | null;
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
            tool_call?: {
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
            } | null;
            via: string | null;
            visit: number | null;
            workflow_execution_id: string | null;
            workflow_id: string | null;
            workflow_name: string | null;
        };
        Approve: {
            approved_by?: string;
            arguments?: {
                [key: string]: unknown;
            };
            arguments_sha256?: string;
            feedback?: string;
            remember?: "none" | "execution" | "tool";
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
        CancelExecution: {
            reason?: string;
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
            secret?: string;
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
        CredentialRotation: {
            new_value?: string;
            provider_params?: unknown;
            value?: string;
        };
        Dashboard: {
            cluster: {
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
            } | null;
            execution_count: number;
            executions_by_status: {
                [key: string]: number;
            };
            generated_at: string;
            recent_execution_count: number;
            recent_workflow_execution_count: number;
            security_incident_count: number;
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
        DeletedToolServer: {
            name: string;
            status: "deleted";
        };
        DevelopmentPerson: {
            issuer: string;
            password: string | null;
            title: string;
            username: string;
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
            reason?: string;
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
            selector: {
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
            } | null;
            tenant_id: string;
            updated_at: string;
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
            selector: {
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
            } | null;
            tenant_id: string;
            updated_at: string;
        };
        EdgeHost: {
            accepting: boolean;
            agent_version: string | null;
            arch: string | null;
            boot_id: string | null;
            capabilities: {
                arch: string | null;
                cpu_cores?: number;
                labels: {
                    [key: string]: string;
                };
                local_tools: string[];
                memory_mb?: number;
                mount_points: string[];
                os: string | null;
                tools: string[];
            };
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
        EdgeHostDetail: {
            accepting: boolean;
            agent_version: string | null;
            arch: string | null;
            boot_id: string | null;
            capabilities: {
                arch: string | null;
                cpu_cores?: number;
                labels: {
                    [key: string]: string;
                };
                local_tools: string[];
                memory_mb?: number;
                mount_points: string[];
                os: string | null;
                tools: string[];
            };
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
            recent_commands: {
                command_id: string;
                dispatched_at: string | null;
                duration_ms: number | null;
                exit_code: number | null;
                fleet_command_id: string;
                outcome: ("pending" | "dispatched" | "running") | "ok" | "err" | "timed_out" | "cancelled" | "refused" | "lost" | "expired" | "not_started";
                tool: string;
            }[];
            revoked_at: string | null;
            running: number;
            since: string;
            slots: number | null;
            status: "connected" | "unhealthy" | "disconnected" | "revoked";
            tags: string[];
            tenant_id: string;
        };
        Error: {
            code: "malformed_body" | "malformed_request" | "subprotocol_required" | "upgrade_required" | "invalid_host" | "invalid_id" | "invalid_agent_id" | "invalid_execution_id" | "invalid_request_id" | "invalid_invocation_id" | "invalid_tenant_slug" | "malformed_signature" | "body_read_error" | "invalid_source" | "missing_authorization" | "invalid_authorization_header" | "invalid_token" | "token_expired" | "invalid_role" | "invalid_tier" | "identity_not_recognized" | "invalid_api_key" | "missing_signature" | "secret_not_found" | "invalid_signature" | "workload_not_verified" | "invalid_request" | "unsupported_grant_type" | "invalid_grant" | "invalid_client" | "realm_not_found" | "quota_exceeded" | "payment_failed" | "no_subscription" | "seats_in_use" | "subscription_exists" | "seat_price_mismatch" | "seats_not_available" | "stale_preview" | "tier_mismatch" | "unknown_price" | "url_not_allowed" | "payment_provider_error" | "payment_provider_timeout" | "insufficient_scope" | "operator_required" | "user_identity_required" | "tenant_suspended" | "tenant_deleted" | "tenant_protected" | "tenant_delegation_forbidden" | "not_a_team_member" | "global_scope_forbidden" | "security_context_forbidden" | "execution_not_yours" | "tenant_mismatch" | "approver_not_allowed" | "self_approval_forbidden" | "route_disabled" | "origin_forbidden" | "tier_not_permitted" | "not_found" | "tenant_not_found" | "agent_not_found" | "agent_version_not_found" | "execution_not_found" | "session_not_found" | "iteration_not_found" | "path_not_found" | "volume_not_found" | "tool_server_not_found" | "dead_letter_not_found" | "workflow_not_found" | "workflow_execution_not_found" | "schedule_not_found" | "item_not_found" | "swarm_not_found" | "approval_not_found" | "invocation_not_found" | "webhook_endpoint_not_found" | "route_not_found" | "stimulus_not_found" | "method_not_allowed" | "body_too_large" | "file_too_large" | "uri_too_long" | "unsupported_media_type" | "range_not_satisfiable" | "misdirected_request" | "headers_too_large" | "agent_version_exists" | "tool_server_exists" | "tool_server_in_file" | "agent_paused" | "agent_archived" | "already_current" | "agent_name_conflict" | "execution_already_terminal" | "destination_exists" | "volume_attached" | "volume_label_taken" | "workflow_version_exists" | "workflow_in_use" | "workflow_name_taken" | "approval_already_decided" | "no_open_approval" | "invalid_state" | "nothing_to_retry" | "not_recorded" | "wait_on_ancestor" | "idempotent_duplicate" | "ambiguous_webhook_route" | "route_exists" | "stimulus_in_progress" | "stimulus_already_routed" | "stimulus_discarded" | "not_a_dead_letter" | "already_replayed" | "workspace_expired" | "link_expired" | "validation_failed" | "arguments_changed" | "arguments_not_editable" | "invalid_arguments" | "remember_not_allowed" | "invalid_manifest" | "unsupported_field" | "unsupported_api_version" | "unsupported_runtime" | "unsupported_isolation" | "unqualified_image" | "image_not_allowed" | "reserved_env" | "invalid_schema" | "bootstrap_path_forbidden" | "unsupported_volume_type" | "volume_type_forbidden" | "open_egress_forbidden" | "invalid_host_pattern" | "unsupported_output_handler" | "unsupported_destination" | "immutable_field" | "invalid_template" | "unsafe_template_position" | "idempotency_key_reused" | "input_validation_failed" | "unknown_model_alias" | "unknown_tool" | "runtime_unavailable" | "unknown_security_context" | "invalid_public_key" | "invalid_attachment" | "attachments_not_declared" | "invalid_path" | "is_a_directory" | "invalid_volume" | "missing_file" | "judge_not_found" | "reserved_override_key" | "template_error" | "depth_exceeded" | "too_many_descendants" | "too_many_ceilings" | "invalid_input" | "invalid_blackboard" | "reserved_blackboard_key" | "unknown_state" | "reserved_source" | "unknown_workflow" | "no_router_configured" | "classification_failed" | "classification_parse_error" | "router_agent_failed" | "rate_limited" | "too_many_streams" | "too_many_children" | "too_many_checks" | "signal_buffer_full" | "agent_mismatch" | "dispatch_not_found" | "execution_not_running" | "iteration_not_current" | "loop_not_active" | "dispatch_result_conflict" | "tool_round_limit" | "dispatch_expired" | "unknown_message_type" | "upstream_rate_limit" | "llm_quota_exceeded" | "upstream_authentication" | "upstream_model_not_found" | "upstream_invalid_input" | "upstream_provider" | "upstream_network" | "upstream_unavailable" | "upstream_timeout" | "internal_error" | "execution_start_failed" | "workflow_start_failed" | "workflow_error" | "decryption_failed" | "not_configured" | "service_unavailable" | "limiter_unavailable" | "stimulus_service_unavailable" | "backlog_full" | "mailbox_full" | "identity_provider_unavailable" | "timed_out" | "tenant_exists" | "reserved_slug" | "tenant_purged" | "override_not_found" | "api_key_not_found" | "unknown_scope" | "scope_not_grantable" | "version_conflict" | "secret_forbidden" | "secrets_unavailable" | "credential_not_found" | "credential_not_granted" | "credential_forbidden" | "credential_revoked" | "not_credential_owner" | "redirect_uri_not_allowed" | "provider_not_configured" | "oauth_not_configured" | "oauth_denied" | "oauth_exchange_failed" | "state_expired" | "device_code_not_found" | "security_context_not_found" | "context_exists" | "context_in_use" | "version_mismatch" | "colony_suspended" | "personal_tier_too_low" | "seat_cap_reached" | "team_context_required" | "membership_revoked" | "owner_only" | "identity_kind_not_allowed" | "email_required" | "email_mismatch" | "already_member" | "owner_role_immutable" | "ambiguous_user" | "invalid_invitation" | "invitation_expired" | "invitation_not_pending" | "entity_id_taken" | "admin_required" | "agent_runs_denied" | "policy_violation" | "fleet_run_not_found" | "dispatch_disabled" | "multiple_targets" | "invalid_enrollment_token" | "invalid_proof" | "not_a_team_admin" | "host_not_found" | "group_not_found" | "enrollment_token_not_found" | "conflict" | "key_in_use" | "token_redeemed" | "enrollment_token_expired" | "enrollment_token_revoked" | "cortex_not_configured" | "issuer_not_configured" | "person_exists" | "person_not_found" | "billing_not_configured" | "webhook_not_configured" | "signature_expired" | "tenant_not_billable";
            error: string;
            issues?: {
                code: string;
                message: string;
                path: string;
            }[];
            request_id: string;
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
            starter: {
                key_id: string | null;
                kind: "consumer" | "operator" | "service_account" | "tenant_user";
                membership: ("owner" | "admin" | "member") | null;
                realm: string;
                role: ("readonly" | "operator" | "admin") | null;
                scopes: string[];
                sub: string;
            } | null;
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
                truncated?: true;
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
                arguments?: unknown;
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
                result?: unknown;
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
            starter: {
                key_id: string | null;
                kind: "consumer" | "operator" | "service_account" | "tenant_user";
                membership: ("owner" | "admin" | "member") | null;
                realm: string;
                role: ("readonly" | "operator" | "admin") | null;
                scopes: string[];
                sub: string;
            } | null;
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
            skipped: {
                name: string;
                node_id: string;
                reason: "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";
            }[];
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
            policy: {
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
            reason: (("cancelled" | "approval_rejected" | "approval_timed_out" | "no_targets" | "min_targets_unmet" | "failure_threshold" | "canary_failed" | "run_deadline") | ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")) | null;
            requested_by: {
                entry: "api" | "seal" | "dispatch" | "mcp" | "workflow";
                execution_id: string | null;
                sub: string;
                tenant_id: string;
            };
            retry_of: string | null;
            security_context_name: string | null;
            skipped: {
                name: string;
                node_id: string;
                reason: "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";
            }[];
            started_at: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            summary: {
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
            target: {
                Node: string;
            } | {
                Nodes: string[];
            } | {
                Group: string;
            } | {
                Selector: {
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
            } | {
                All: null;
            };
            targets_resolved: number;
            targets_skipped: number;
            tenant_id: string;
            tool: string;
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
            per_node: {
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
                previous_attempts: {
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
                }[];
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
            }[];
            policy: {
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
            reason: (("cancelled" | "approval_rejected" | "approval_timed_out" | "no_targets" | "min_targets_unmet" | "failure_threshold" | "canary_failed" | "run_deadline") | ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")) | null;
            requested_by: {
                entry: "api" | "seal" | "dispatch" | "mcp" | "workflow";
                execution_id: string | null;
                sub: string;
                tenant_id: string;
            };
            retry_of: string | null;
            security_context_name: string | null;
            skipped: {
                name: string;
                node_id: string;
                reason: "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";
            }[];
            started_at: string | null;
            status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
            summary: {
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
            target: {
                Node: string;
            } | {
                Nodes: string[];
            } | {
                Group: string;
            } | {
                Selector: {
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
            } | {
                All: null;
            };
            targets_resolved: number;
            targets_skipped: number;
            tenant_id: string;
            tool: string;
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
            skipped: {
                name: string;
                node_id: string;
                reason: "Disconnected" | "Unhealthy" | "NotAccepting" | "NotApproved";
            }[];
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
            gap_bytes?: number;
            node_id: string;
            offset?: number;
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
            summary: {
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
            targets_resolved: number;
            targets_skipped: number;
        };
        FleetSettings: {
            agent_runs: "approve" | "allow" | "deny";
            approve_above: number | null;
            approve_all: boolean;
            dispatch_enabled: boolean;
            self_approval: boolean;
        };
        ForkWorkflow: {
            blackboard_patch?: unknown;
            from_state: string;
            from_visit?: number;
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
            arguments_sha256?: string;
            decision: "approve" | "reject";
            feedback?: string;
            reason?: string;
        };
        MakeDirectory: {
            path?: string;
        };
        McpEvent: {
            error?: unknown;
            id?: string | number;
            jsonrpc: "2.0";
            method?: string;
            params?: unknown;
            result?: unknown;
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
                current_state?: string;
                execution_ids?: string[];
                started_before?: string;
            };
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
            destination?: string;
            from?: string;
            overwrite: boolean;
            source?: string;
            to?: string;
        };
        NewApiKey: {
            expires_at?: string;
            name: string;
            scopes?: string[];
        };
        NewApiKeyCredential: {
            api_key?: string;
            api_key_value?: string;
            credential_type?: "secret" | "variable" | "service_account";
            expires_at?: string;
            label?: string;
            metadata?: {
                [key: string]: unknown;
            };
            provider: string;
            scope?: string;
            value?: string;
        };
        NewCredentialGrant: {
            agent_id?: string;
            expires_at?: string;
            permission_type?: "read" | "use";
            target_type?: "agent" | "workflow" | "all_agents";
            target_value?: string;
            workflow_name?: string;
        };
        NewDeviceConsent: {
            label?: string;
            provider: string;
            scopes?: string[];
        };
        NewInvitation: {
            email?: string;
            invitee_email?: string;
            role?: "admin" | "member";
        };
        NewMember: {
            email: string;
            role?: "admin" | "member";
        };
        NewMemberRole: {
            role: "owner" | "admin" | "member";
        };
        NewOAuthConsent: {
            label?: string;
            provider: string;
            redirect_uri?: string;
            scope?: string;
            scopes?: string[];
        };
        NewPerson: {
            email: string;
            name?: string;
            role?: "admin" | "operator" | "readonly";
        };
        NewSaml: {
            certificate: string;
            entity_id: string;
            sso_url: string;
        };
        NewSecret: {
            data?: {
                [key: string]: string;
            };
            encoding?: "plaintext" | "base64";
            value?: string;
        };
        NewSecurityContext: {
            capabilities?: {
                approval?: {
                    approvers?: string[];
                    editable?: boolean;
                    elicit?: boolean;
                    forbid_initiator?: boolean;
                    on_timeout?: "reject" | "fail";
                    quorum?: number;
                    remember?: ("execution" | "tool") | null;
                    timeout_seconds?: number;
                    when?: string | null;
                } | null;
                command_allowlist?: string[] | null;
                domain_allowlist?: string[] | null;
                max_concurrent?: number | null;
                max_response_size?: number | null;
                max_timeout_secs?: number | null;
                path_allowlist?: string[] | null;
                rate_limit?: {
                    calls: number;
                    per_seconds: number;
                } | null;
                subcommand_allowlist?: ({
                    [key: string]: string[];
                } | string[]) | null;
                tool_pattern: string;
            }[];
            deny_list?: string[];
            description?: string | null;
            name: string;
            usable_by?: string[] | null;
        };
        NewSource: {
            acknowledge?: "routed" | "received";
            description?: string;
            enabled?: boolean;
            events?: string[];
            forward_headers?: string[];
            generate_secret?: boolean;
            idempotency_fallback?: "none" | "body_sha256";
            match?: string | null;
            rate_limit_per_minute?: number | null;
            replay_guard?: boolean;
            require_timestamp?: boolean;
            secret?: (string) | null;
            signature?: ("svc" | "github" | "stripe" | "slack" | "standard_webhooks") | components["schemas"]["Signature"];
            source: string;
            workflow?: string | null;
            workflow_version?: string | null;
        };
        NewStimulus: {
            content: unknown;
            idempotency_key?: string | null;
            source: string;
        };
        NewTeam: {
            display_name: string;
            tier?: "business" | "enterprise";
        };
        NewTenant: {
            display_name: string;
            idp_realm?: string;
            owner_email?: string;
            quotas?: {
                max_agents?: number;
                max_concurrent_executions?: number;
                max_storage_gb?: number;
            };
            slug: string;
            tier?: "free" | "pro" | "business" | "enterprise";
            vault_namespace?: string;
        };
        NewToolServer: {
            args?: string[];
            call_timeout_seconds?: number;
            capabilities?: {
                name: string;
                skip_judge: boolean;
            }[] | null;
            credentials?: {
                [key: string]: string;
            };
            definitions?: "pinned" | "follow";
            egress?: string[];
            enabled?: boolean;
            environment?: {
                [key: string]: string;
            };
            executable?: string | null;
            health_check?: {
                interval_seconds?: number;
                timeout_seconds?: number;
            };
            max_concurrent?: number;
            name: string;
            resource_limits?: {
                cpu_millicores?: number;
                memory_mb?: number;
            };
            tenant_id?: string | null;
            transport?: "stdio" | "streamable_http";
            url?: string | null;
        };
        NewVolume: {
            label: string;
            size_limit_bytes?: number;
            visibility?: "private" | "tenant";
        };
        OAuthCallback: {
            code?: string;
            error?: string;
            iss?: string;
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
            fleet_command_id?: string | null;
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
            tool_call?: {
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
            } | null;
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
            name?: string;
            role?: "admin" | "operator" | "readonly";
            status?: "active" | "disabled";
            unlock?: boolean;
        };
        PersonReset: {
            totp: boolean;
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
            rejected_by?: string;
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
            force?: boolean;
            workflow?: string;
            workflow_version?: string;
        };
        RetryExecution: {
            input?: unknown;
            version?: string;
        };
        RetryWorkflow: {
            from_state?: string;
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
            allowed_workflows?: string[] | null;
            classification_confidence_threshold?: number;
            classification_timeout_secs?: number;
            confidence_threshold?: number;
            router_agent?: string;
            router_agent_id?: string;
            timeout_seconds?: number;
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
        SecretDeleted: {
            path: string;
            status: "deleted";
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
            secret?: string;
        };
        SecretRotation: {
            previous_valid_seconds?: number;
            secret?: string;
        };
        SecretWritten: {
            created_at: string;
            path: string;
            status: "written";
            updated_at: string;
            version: number;
        };
        SecurityContext: {
            capabilities: {
                approval?: {
                    approvers: string[];
                    editable: boolean;
                    elicit: boolean;
                    forbid_initiator: boolean;
                    on_timeout: "reject" | "fail";
                    quorum: number;
                    remember: ("execution" | "tool") | null;
                    timeout_seconds: number;
                    when: string | null;
                } | null;
                command_allowlist?: string[] | null;
                domain_allowlist?: string[] | null;
                max_concurrent?: number | null;
                max_response_size?: number | null;
                max_timeout_secs?: number | null;
                path_allowlist?: string[] | null;
                rate_limit?: {
                    calls: number;
                    per_seconds: number;
                } | null;
                subcommand_allowlist?: ({
                    [key: string]: string[];
                } | string[]) | null;
                tool_pattern: string;
            }[];
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
            capabilities?: {
                approval?: {
                    approvers?: string[];
                    editable?: boolean;
                    elicit?: boolean;
                    forbid_initiator?: boolean;
                    on_timeout?: "reject" | "fail";
                    quorum?: number;
                    remember?: ("execution" | "tool") | null;
                    timeout_seconds?: number;
                    when?: string | null;
                } | null;
                command_allowlist?: string[] | null;
                domain_allowlist?: string[] | null;
                max_concurrent?: number | null;
                max_response_size?: number | null;
                max_timeout_secs?: number | null;
                path_allowlist?: string[] | null;
                rate_limit?: {
                    calls: number;
                    per_seconds: number;
                } | null;
                subcommand_allowlist?: ({
                    [key: string]: string[];
                } | string[]) | null;
                tool_pattern: string;
            }[];
            deny_list?: string[];
            description?: string | null;
            name?: string;
            usable_by?: string[] | null;
        };
        SecurityContextVerdict: {
            allowed: boolean;
            approval: boolean;
            capability_index: number | null;
            code: string | null;
            constraint: string | null;
            context_version: number;
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
            name: string;
            outputSchema?: {
                [key: string]: unknown;
            };
            skip_judge: boolean;
            withheld: boolean;
        };
        SignalWorkflow: {
            payload?: unknown;
            response?: string;
            signal_name?: string;
        };
        Signature: {
            preset: "svc" | "github" | "stripe" | "slack" | "standard_webhooks";
            tolerance_seconds?: number;
        };
        SignInConfig: {
            cli_client_id: string;
            client_id: string;
            device: boolean;
            issuer: string;
            password: boolean;
            people?: components["schemas"]["DevelopmentPerson"][];
            scopes: string[];
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
            acknowledge?: "routed" | "received";
            description?: string;
            enabled?: boolean;
            events?: string[];
            forward_headers?: string[];
            generate_secret?: boolean;
            idempotency_fallback?: "none" | "body_sha256";
            match?: string | null;
            rate_limit_per_minute?: number | null;
            replay_guard?: boolean;
            require_timestamp?: boolean;
            secret?: (string) | null;
            signature?: ("svc" | "github" | "stripe" | "slack" | "standard_webhooks") | components["schemas"]["Signature"];
            source?: string;
            workflow?: string | null;
            workflow_version?: string | null;
        };
        SourceDeleted: {
            id: string;
            status: "deleted";
            success: true;
        };
        StartExecution: {
            agent_id?: unknown;
            attachments?: unknown[];
            context_overrides?: unknown;
            input: unknown;
            intent?: string;
            labels?: {
                [key: string]: string;
            };
            max_iterations?: number;
            max_tokens?: number;
            security_context?: string;
            security_context_name?: string;
            timeout_seconds?: number;
            version?: string;
            wait_seconds?: number;
        };
        StartNamedExecution: {
            agent_id: unknown;
            attachments?: unknown[];
            context_overrides?: unknown;
            input: unknown;
            intent?: string;
            labels?: {
                [key: string]: string;
            };
            max_iterations?: number;
            max_tokens?: number;
            security_context?: string;
            security_context_name?: string;
            timeout_seconds?: number;
            version?: string;
            wait_seconds?: number;
        };
        StartNamedWorkflow: {
            attachments?: unknown[];
            blackboard?: unknown;
            context_overrides?: unknown;
            input?: unknown;
            intent?: string;
            security_context_name?: string;
            timeout?: number;
            timeout_seconds?: number;
            version?: string;
            workflow_id?: string;
            workflow_name?: string;
        };
        StartWorkflow: {
            attachments?: unknown[];
            blackboard?: unknown;
            context_overrides?: unknown;
            input?: unknown;
            intent?: string;
            security_context_name?: string;
            timeout?: number;
            timeout_seconds?: number;
            version?: string;
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
            classification_detail: {
                confidence: number | null;
                reasoning: string | null;
                router_agent_id: string | null;
                router_execution_id: string | null;
                routing_mode: "deterministic" | "llm_classified" | "override";
                threshold: number | null;
                workflow_id: string | null;
                workflow_name: string | null;
            } | null;
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
        StimulusDetail: {
            attempts: number;
            channel: string;
            classification: string | null;
            classification_detail: {
                confidence: number | null;
                reasoning: string | null;
                router_agent_id: string | null;
                router_execution_id: string | null;
                routing_mode: "deterministic" | "llm_classified" | "override";
                threshold: number | null;
                workflow_id: string | null;
                workflow_name: string | null;
            } | null;
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
            classification_detail: {
                confidence: number | null;
                reasoning: string | null;
                router_agent_id: string | null;
                router_execution_id: string | null;
                routing_mode: "deterministic" | "llm_classified" | "override";
                threshold: number | null;
                workflow_id: string | null;
                workflow_name: string | null;
            } | null;
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
            display_name?: string;
            owner_email?: string | null;
            quotas?: {
                max_agents?: number | null;
                max_concurrent_executions?: number | null;
                max_storage_gb?: number | null;
            };
            tier?: ("free" | "pro" | "business" | "enterprise") | null;
        };
        TenantSuspension: {
            reason?: string;
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
            args?: string[];
            call_timeout_seconds?: number;
            capabilities?: {
                name: string;
                skip_judge: boolean;
            }[] | null;
            credentials?: {
                [key: string]: string;
            };
            definitions?: "pinned" | "follow";
            egress?: string[];
            enabled?: boolean;
            environment?: {
                [key: string]: string;
            };
            executable?: string | null;
            health_check?: {
                interval_seconds?: number;
                timeout_seconds?: number;
            };
            max_concurrent?: number;
            resource_limits?: {
                cpu_millicores?: number;
                memory_mb?: number;
            };
            transport?: "stdio" | "streamable_http";
            url?: string | null;
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
            label?: string;
            size_limit_bytes?: number;
            visibility?: "private" | "tenant";
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
            iteration_number?: number;
            message: string;
            sequence: number;
            state_name?: string;
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
                } | null;
                description: string | null;
                input_schema?: Record<string, never> | boolean | null;
                labels?: {
                    [key: string]: string;
                } | null;
                name: string;
                output_schema?: Record<string, never> | boolean | null;
                output_template?: {
                    [key: string]: string;
                } | null;
                tags: string[] | null;
                version: string | null;
            };
            spec: {
                compensate_on?: ("failed" | "cancelled" | "timed_out")[] | null;
                context?: Record<string, never> | null;
                initial_state: string;
                max_total_transitions: number | null;
                schedules?: components["schemas"]["WorkflowManifest.Schedule"][] | null;
                security_context?: string | null;
                states: {
                    [key: string]: components["schemas"]["WorkflowManifest.State"];
                } | components["schemas"]["WorkflowManifest.NamedState"][];
                storage?: {
                    shared_volumes: {
                        name: string;
                        size_limit_bytes?: number | null;
                        storage_class: "ephemeral" | "persistent" | null;
                    }[] | null;
                    workspace?: {
                        blackboard_key: string | null;
                        size_limit_mb: number | null;
                        storage_class: "ephemeral" | "persistent" | null;
                        ttl_hours: number | null;
                        volume_id?: string | null;
                    } | null;
                } | null;
                strict_templates: boolean | null;
            };
        };
        "WorkflowManifest.AgentMount": {
            mount_path: string;
            name: string;
            read_only: boolean | null;
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
            read_only: boolean | null;
        };
        "WorkflowManifest.InnerState": {
            agent: string;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input: unknown;
            intent?: string | null;
            isolation: "inherit" | "docker" | "process" | "firecracker" | null;
            judge_threshold: number | null;
            judges: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "Agent";
            max_iterations: number | null;
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            temperature?: number | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null;
        } | {
            command: string | string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image?: string | null;
            kind: "System";
            max_state_visits: number | null;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir: string | null;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null;
                timeout_seconds: number | null;
                weight: number | null;
            }[];
            compensate?: string | null;
            consensus: {
                agreement?: number | null;
                confidence_weighting?: {
                    agreement_factor: number | null;
                    self_confidence_factor: number | null;
                } | null;
                min_agreement_confidence?: number | null;
                min_judges_required: number | null;
                n?: number | null;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold: number | null;
            };
            continue_as?: {
                input?: unknown;
            } | null;
            judges_for_parallel: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "ParallelAgents";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image: string;
            image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
            kind: "ContainerRun";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            read_only_root_filesystem: boolean | null;
            registry_credentials?: string | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                backoff?: number | string | null;
                max_attempts: number | null;
            } | null;
            run_as_user?: number | null;
            shell: boolean | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
            workdir: string | null;
        } | {
            compensate?: string | null;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "ParallelContainerRun";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null;
                image: string;
                name: string;
                network_mode: "none" | "default" | "bridge" | "host" | null;
                registry_credentials?: string | null;
                resources?: {
                    cpu: number | string | null;
                    memory: number | string | null;
                    timeout?: number | string | null;
                } | null;
                shell: boolean | null;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
                workdir: string | null;
            }[];
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            kind: "Subworkflow";
            max_state_visits: number | null;
            mode: "blocking" | "fire_and_forget";
            outcome: "completed" | "failed" | null;
            result_key?: unknown;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Wait";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            seconds?: number | string | null;
            signal?: string | null;
            stimulus?: {
                equals?: string | null;
                key?: string | null;
                match?: string | null;
                source: string;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null;
        } | {
            arguments?: Record<string, never> | string | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Tool";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null;
            command?: string | string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Fleet";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            policy?: Record<string, never> | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            target: unknown;
            timeout?: number | string | null;
            tool?: string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            expect?: {
                schema?: Record<string, never> | boolean | null;
                status?: (number | string)[] | null;
            } | null;
            headers?: {
                [key: string]: string;
            } | null;
            kind: "Http";
            max_state_visits: number | null;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents: boolean | null;
            approvers: string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            default_response?: string | null;
            escalate?: {
                after: number | string;
                approvers: string[] | null;
                notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            } | null;
            forbid_initiator: boolean | null;
            kind: "Human";
            max_state_visits: number | null;
            notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            outcome: "completed" | "failed" | null;
            prompt: string;
            quorum: number | null;
            reject_on_timeout: boolean | null;
            remind_after?: number | string | null;
            required_role?: string | null;
            timeout?: number | string | null;
            timeout_seconds?: number | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Item": {
            agent: string;
            compensate?: unknown | null;
            continue_as?: unknown | null;
            input: unknown;
            intent?: string | null;
            isolation: "inherit" | "docker" | "process" | "firecracker" | null;
            judge_threshold: number | null;
            judges: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "Agent";
            max_iterations: number | null;
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            temperature?: number | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null;
        } | {
            command: string | string[];
            compensate?: unknown | null;
            continue_as?: unknown | null;
            env?: {
                [key: string]: string;
            } | null;
            image?: string | null;
            kind: "System";
            max_state_visits?: unknown | null;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome?: unknown | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            workdir: string | null;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null;
                timeout_seconds: number | null;
                weight: number | null;
            }[];
            compensate?: unknown | null;
            consensus: {
                agreement?: number | null;
                confidence_weighting?: {
                    agreement_factor: number | null;
                    self_confidence_factor: number | null;
                } | null;
                min_agreement_confidence?: number | null;
                min_judges_required: number | null;
                n?: number | null;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold: number | null;
            };
            continue_as?: unknown | null;
            judges_for_parallel: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "ParallelAgents";
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
        } | {
            command: string[];
            compensate?: unknown | null;
            continue_as?: unknown | null;
            env?: {
                [key: string]: string;
            } | null;
            image: string;
            image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
            kind: "ContainerRun";
            max_state_visits?: unknown | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome?: unknown | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            read_only_root_filesystem: boolean | null;
            registry_credentials?: string | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                backoff?: number | string | null;
                max_attempts: number | null;
            } | null;
            run_as_user?: number | null;
            shell: boolean | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
            workdir: string | null;
        } | {
            compensate?: unknown | null;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: unknown | null;
            kind: "ParallelContainerRun";
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null;
                image: string;
                name: string;
                network_mode: "none" | "default" | "bridge" | "host" | null;
                registry_credentials?: string | null;
                resources?: {
                    cpu: number | string | null;
                    memory: number | string | null;
                    timeout?: number | string | null;
                } | null;
                shell: boolean | null;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
                workdir: string | null;
            }[];
            timeout?: number | string | null;
            transitions?: unknown | null;
        } | {
            compensate?: unknown | null;
            continue_as?: unknown | null;
            input?: unknown;
            kind: "Subworkflow";
            max_state_visits?: unknown | null;
            mode: "blocking" | "fire_and_forget";
            outcome?: unknown | null;
            result_key?: unknown;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            workflow_id: string;
        } | {
            compensate?: unknown | null;
            continue_as?: unknown | null;
            kind: "Wait";
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            seconds?: number | string | null;
            signal?: string | null;
            stimulus?: {
                equals?: string | null;
                key?: string | null;
                match?: string | null;
                source: string;
            } | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            until?: string | null;
        } | {
            arguments?: Record<string, never> | string | null;
            compensate?: unknown | null;
            continue_as?: unknown | null;
            kind: "Tool";
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            tool: string;
            transitions?: unknown | null;
        } | {
            args?: Record<string, never> | string | null;
            command?: string | string[] | null;
            compensate?: unknown | null;
            continue_as?: unknown | null;
            kind: "Fleet";
            max_state_visits?: unknown | null;
            outcome?: unknown | null;
            policy?: Record<string, never> | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            target: unknown;
            timeout?: number | string | null;
            tool?: string | null;
            transitions?: unknown | null;
        } | {
            body?: unknown;
            compensate?: unknown | null;
            continue_as?: unknown | null;
            expect?: {
                schema?: Record<string, never> | boolean | null;
                status?: (number | string)[] | null;
            } | null;
            headers?: {
                [key: string]: string;
            } | null;
            kind: "Http";
            max_state_visits?: unknown | null;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null;
            outcome?: unknown | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions?: unknown | null;
            url: string;
        };
        "WorkflowManifest.Judge": {
            agent_id: string;
            input_template?: string | null;
            weight: number | null;
        };
        "WorkflowManifest.NamedInnerState": {
            agent: string;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input: unknown;
            intent?: string | null;
            isolation: "inherit" | "docker" | "process" | "firecracker" | null;
            judge_threshold: number | null;
            judges: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "Agent";
            max_iterations: number | null;
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            temperature?: number | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null;
        } | {
            command: string | string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image?: string | null;
            kind: "System";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir: string | null;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null;
                timeout_seconds: number | null;
                weight: number | null;
            }[];
            compensate?: string | null;
            consensus: {
                agreement?: number | null;
                confidence_weighting?: {
                    agreement_factor: number | null;
                    self_confidence_factor: number | null;
                } | null;
                min_agreement_confidence?: number | null;
                min_judges_required: number | null;
                n?: number | null;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold: number | null;
            };
            continue_as?: {
                input?: unknown;
            } | null;
            judges_for_parallel: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "ParallelAgents";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image: string;
            image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
            kind: "ContainerRun";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            read_only_root_filesystem: boolean | null;
            registry_credentials?: string | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                backoff?: number | string | null;
                max_attempts: number | null;
            } | null;
            run_as_user?: number | null;
            shell: boolean | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
            workdir: string | null;
        } | {
            compensate?: string | null;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "ParallelContainerRun";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null;
                image: string;
                name: string;
                network_mode: "none" | "default" | "bridge" | "host" | null;
                registry_credentials?: string | null;
                resources?: {
                    cpu: number | string | null;
                    memory: number | string | null;
                    timeout?: number | string | null;
                } | null;
                shell: boolean | null;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
                workdir: string | null;
            }[];
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            kind: "Subworkflow";
            max_state_visits: number | null;
            mode: "blocking" | "fire_and_forget";
            name: string;
            outcome: "completed" | "failed" | null;
            result_key?: unknown;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Wait";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            seconds?: number | string | null;
            signal?: string | null;
            stimulus?: {
                equals?: string | null;
                key?: string | null;
                match?: string | null;
                source: string;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null;
        } | {
            arguments?: Record<string, never> | string | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Tool";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null;
            command?: string | string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Fleet";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            policy?: Record<string, never> | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            target: unknown;
            timeout?: number | string | null;
            tool?: string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            expect?: {
                schema?: Record<string, never> | boolean | null;
                status?: (number | string)[] | null;
            } | null;
            headers?: {
                [key: string]: string;
            } | null;
            kind: "Http";
            max_state_visits: number | null;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents: boolean | null;
            approvers: string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            default_response?: string | null;
            escalate?: {
                after: number | string;
                approvers: string[] | null;
                notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            } | null;
            forbid_initiator: boolean | null;
            kind: "Human";
            max_state_visits: number | null;
            name: string;
            notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            outcome: "completed" | "failed" | null;
            prompt: string;
            quorum: number | null;
            reject_on_timeout: boolean | null;
            remind_after?: number | string | null;
            required_role?: string | null;
            timeout?: number | string | null;
            timeout_seconds?: number | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.NamedState": {
            agent: string;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input: unknown;
            intent?: string | null;
            isolation: "inherit" | "docker" | "process" | "firecracker" | null;
            judge_threshold: number | null;
            judges: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "Agent";
            max_iterations: number | null;
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            temperature?: number | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null;
        } | {
            command: string | string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image?: string | null;
            kind: "System";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir: string | null;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null;
                timeout_seconds: number | null;
                weight: number | null;
            }[];
            compensate?: string | null;
            consensus: {
                agreement?: number | null;
                confidence_weighting?: {
                    agreement_factor: number | null;
                    self_confidence_factor: number | null;
                } | null;
                min_agreement_confidence?: number | null;
                min_judges_required: number | null;
                n?: number | null;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold: number | null;
            };
            continue_as?: {
                input?: unknown;
            } | null;
            judges_for_parallel: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "ParallelAgents";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image: string;
            image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
            kind: "ContainerRun";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            read_only_root_filesystem: boolean | null;
            registry_credentials?: string | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                backoff?: number | string | null;
                max_attempts: number | null;
            } | null;
            run_as_user?: number | null;
            shell: boolean | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
            workdir: string | null;
        } | {
            compensate?: string | null;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "ParallelContainerRun";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null;
                image: string;
                name: string;
                network_mode: "none" | "default" | "bridge" | "host" | null;
                registry_credentials?: string | null;
                resources?: {
                    cpu: number | string | null;
                    memory: number | string | null;
                    timeout?: number | string | null;
                } | null;
                shell: boolean | null;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
                workdir: string | null;
            }[];
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            kind: "Subworkflow";
            max_state_visits: number | null;
            mode: "blocking" | "fire_and_forget";
            name: string;
            outcome: "completed" | "failed" | null;
            result_key?: unknown;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Wait";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            seconds?: number | string | null;
            signal?: string | null;
            stimulus?: {
                equals?: string | null;
                key?: string | null;
                match?: string | null;
                source: string;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null;
        } | {
            arguments?: Record<string, never> | string | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Tool";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null;
            command?: string | string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Fleet";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            policy?: Record<string, never> | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            target: unknown;
            timeout?: number | string | null;
            tool?: string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            expect?: {
                schema?: Record<string, never> | boolean | null;
                status?: (number | string)[] | null;
            } | null;
            headers?: {
                [key: string]: string;
            } | null;
            kind: "Http";
            max_state_visits: number | null;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents: boolean | null;
            approvers: string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            default_response?: string | null;
            escalate?: {
                after: number | string;
                approvers: string[] | null;
                notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            } | null;
            forbid_initiator: boolean | null;
            kind: "Human";
            max_state_visits: number | null;
            name: string;
            notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            outcome: "completed" | "failed" | null;
            prompt: string;
            quorum: number | null;
            reject_on_timeout: boolean | null;
            remind_after?: number | string | null;
            required_role?: string | null;
            timeout?: number | string | null;
            timeout_seconds?: number | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            as: string | null;
            batch: number | null;
            compensate?: string | null;
            concurrency: number | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            items: string | unknown[];
            kind: "Map";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            state?: components["schemas"]["WorkflowManifest.Item"] | null;
            timeout?: number | string | null;
            tolerate: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow?: string | null;
        } | {
            branches: components["schemas"]["WorkflowManifest.Branch"][];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            join: ("all" | "any") | number | null;
            kind: "Branch";
            max_state_visits: number | null;
            name: string;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Notification": {
            secret?: string | null;
            type: "webhook";
            url: string;
        } | {
            to: string[];
            type: "email";
        };
        "WorkflowManifest.OutputHandler": {
            agent_id: string;
            input_template: string | null;
            required: boolean | null;
            timeout_seconds: number | null;
            type: "agent";
        } | {
            body_template?: string | null;
            headers?: {
                [key: string]: string;
            } | null;
            method: "POST" | "PUT" | "PATCH" | null;
            required: boolean | null;
            retry?: {
                max_attempts: number | null;
            } | null;
            timeout_seconds: number | null;
            type: "webhook";
            url: string;
        };
        "WorkflowManifest.Schedule": {
            catch_up: "none" | "last" | "all" | null;
            catch_up_window: number | string | null;
            cron?: string | null;
            every?: number | string | null;
            input?: unknown;
            jitter: number | string | null;
            name: string;
            overlap: "skip" | "queue" | "allow" | "cancel_previous" | null;
            timezone: string | null;
        };
        "WorkflowManifest.State": {
            agent: string;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input: unknown;
            intent?: string | null;
            isolation: "inherit" | "docker" | "process" | "firecracker" | null;
            judge_threshold: number | null;
            judges: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "Agent";
            max_iterations: number | null;
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            pre_execution_validator?: {
                agent_id: string;
                input_template?: string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            temperature?: number | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.AgentMount"][] | null;
        } | {
            command: string | string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image?: string | null;
            kind: "System";
            max_state_visits: number | null;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workdir: string | null;
        } | {
            agents: {
                agent: string;
                input: unknown;
                poll_interval_ms?: number | null;
                timeout_seconds: number | null;
                weight: number | null;
            }[];
            compensate?: string | null;
            consensus: {
                agreement?: number | null;
                confidence_weighting?: {
                    agreement_factor: number | null;
                    self_confidence_factor: number | null;
                } | null;
                min_agreement_confidence?: number | null;
                min_judges_required: number | null;
                n?: number | null;
                strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
                threshold: number | null;
            };
            continue_as?: {
                input?: unknown;
            } | null;
            judges_for_parallel: components["schemas"]["WorkflowManifest.Judge"][] | null;
            kind: "ParallelAgents";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            command: string[];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            env?: {
                [key: string]: string;
            } | null;
            image: string;
            image_pull_policy: "Always" | "IfNotPresent" | "Never" | null;
            kind: "ContainerRun";
            max_state_visits: number | null;
            name: string;
            network_mode: "none" | "default" | "bridge" | "host" | null;
            outcome: "completed" | "failed" | null;
            output_handler?: components["schemas"]["WorkflowManifest.OutputHandler"] | null;
            read_only_root_filesystem: boolean | null;
            registry_credentials?: string | null;
            resources?: {
                cpu: number | string | null;
                memory: number | string | null;
                timeout?: number | string | null;
            } | null;
            retry?: {
                backoff?: number | string | null;
                max_attempts: number | null;
            } | null;
            run_as_user?: number | null;
            shell: boolean | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
            workdir: string | null;
        } | {
            compensate?: string | null;
            completion: "all_succeed" | "any_succeed" | "best_effort";
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "ParallelContainerRun";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            steps: {
                command: string[];
                env?: {
                    [key: string]: string;
                } | null;
                image: string;
                name: string;
                network_mode: "none" | "default" | "bridge" | "host" | null;
                registry_credentials?: string | null;
                resources?: {
                    cpu: number | string | null;
                    memory: number | string | null;
                    timeout?: number | string | null;
                } | null;
                shell: boolean | null;
                volumes?: components["schemas"]["WorkflowManifest.ContainerMount"][] | null;
                workdir: string | null;
            }[];
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            kind: "Subworkflow";
            max_state_visits: number | null;
            mode: "blocking" | "fire_and_forget";
            outcome: "completed" | "failed" | null;
            result_key?: unknown;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow_id: string;
        } | {
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Wait";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            seconds?: number | string | null;
            signal?: string | null;
            stimulus?: {
                equals?: string | null;
                key?: string | null;
                match?: string | null;
                source: string;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            until?: string | null;
        } | {
            arguments?: Record<string, never> | string | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Tool";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            tool: string;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            args?: Record<string, never> | string | null;
            command?: string | string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            kind: "Fleet";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            policy?: Record<string, never> | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            target: unknown;
            timeout?: number | string | null;
            tool?: string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            body?: unknown;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            expect?: {
                schema?: Record<string, never> | boolean | null;
                status?: (number | string)[] | null;
            } | null;
            headers?: {
                [key: string]: string;
            } | null;
            kind: "Http";
            max_state_visits: number | null;
            method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            url: string;
        } | {
            allow_agents: boolean | null;
            approvers: string[] | null;
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            default_response?: string | null;
            escalate?: {
                after: number | string;
                approvers: string[] | null;
                notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            } | null;
            forbid_initiator: boolean | null;
            kind: "Human";
            max_state_visits: number | null;
            notify: components["schemas"]["WorkflowManifest.Notification"][] | null;
            outcome: "completed" | "failed" | null;
            prompt: string;
            quorum: number | null;
            reject_on_timeout: boolean | null;
            remind_after?: number | string | null;
            required_role?: string | null;
            timeout?: number | string | null;
            timeout_seconds?: number | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        } | {
            as: string | null;
            batch: number | null;
            compensate?: string | null;
            concurrency: number | null;
            continue_as?: {
                input?: unknown;
            } | null;
            input?: unknown;
            items: string | unknown[];
            kind: "Map";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            state?: components["schemas"]["WorkflowManifest.Item"] | null;
            timeout?: number | string | null;
            tolerate: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
            workflow?: string | null;
        } | {
            branches: components["schemas"]["WorkflowManifest.Branch"][];
            compensate?: string | null;
            continue_as?: {
                input?: unknown;
            } | null;
            join: ("all" | "any") | number | null;
            kind: "Branch";
            max_state_visits: number | null;
            outcome: "completed" | "failed" | null;
            retry?: {
                attempts: number | null;
                backoff: number | null;
                delay: number | string | null;
                max_delay: number | string | null;
                on: string[] | null;
            } | null;
            timeout?: number | string | null;
            transitions: components["schemas"]["WorkflowManifest.Transition"][];
        };
        "WorkflowManifest.Transition": {
            condition?: "always" | null;
            feedback?: string | null;
            target: string;
        } | {
            condition: "on_success";
            feedback?: string | null;
            target: string;
        } | {
            condition: "on_failure";
            feedback?: string | null;
            target: string;
        } | {
            condition: "on_timeout";
            feedback?: string | null;
            target: string;
        } | {
            condition: "exit_code_zero";
            feedback?: string | null;
            target: string;
        } | {
            condition: "exit_code_non_zero";
            feedback?: string | null;
            target: string;
        } | {
            condition: "exit_code";
            feedback?: string | null;
            target: string;
            value: number | string;
        } | {
            condition: "score_above";
            feedback?: string | null;
            target: string;
            threshold: number;
        } | {
            condition: "score_below";
            feedback?: string | null;
            target: string;
            threshold: number;
        } | {
            condition: "score_between";
            feedback?: string | null;
            max: number;
            min: number;
            target: string;
        } | {
            condition: "confidence_above";
            feedback?: string | null;
            target: string;
            threshold: number;
        } | {
            condition: "score_and_confidence_above";
            feedback?: string | null;
            target: string;
            threshold: number;
        } | {
            agreement: number | null;
            condition: "consensus";
            feedback?: string | null;
            target: string;
            threshold: number;
        } | {
            condition: "all_approved";
            feedback?: string | null;
            target: string;
        } | {
            condition: "any_rejected";
            feedback?: string | null;
            target: string;
        } | {
            condition: "input_equals";
            feedback?: string | null;
            target: string;
            value: string;
        } | {
            condition: "approved";
            feedback?: string | null;
            target: string;
        } | {
            condition: "input_equals_yes";
            feedback?: string | null;
            target: string;
        } | {
            condition: "rejected";
            feedback?: string | null;
            target: string;
        } | {
            condition: "input_equals_no";
            feedback?: string | null;
            target: string;
        } | {
            condition: "custom";
            expression: string;
            feedback?: string | null;
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
            compensation: {
                remaining: {
                    of_state: string;
                    of_visit: number;
                    state_name: string;
                }[];
                status: "none" | "running" | "done" | "failed";
            };
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
                realm?: string;
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
            starter: {
                key_id: string | null;
                kind: "consumer" | "operator" | "service_account" | "tenant_user";
                membership: ("owner" | "admin" | "member") | null;
                realm: string;
                role: ("readonly" | "operator" | "admin") | null;
                scopes: string[];
                sub: string;
            } | null;
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
            waiting_for: {
                approval_id?: string;
                expires_at: string | null;
                kind: "approval" | "tool_call" | "time" | "signal" | "stimulus";
                state_name: string;
            } | null;
            workflow_id: string;
            workflow_name: string;
            workflow_version: string;
        };
        WorkflowRunGraph: {
            current_state: string | null;
            edges: {
                condition: string;
                from: string;
                taken: number;
                to: string;
            }[];
            execution_id: string;
            nodes: {
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
            }[];
            status: "pending" | "running" | "completed" | "failed" | "cancelled" | "timed_out";
            steps: {
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
            }[];
            version: string;
            workflow_id: string;
            workflow_name: string;
        };
        WorkflowRunRecord: {
            attachments: unknown[];
            blackboard: {
                [key: string]: unknown;
            };
            compensation: {
                remaining: {
                    of_state: string;
                    of_visit: number;
                    state_name: string;
                }[];
                status: "none" | "running" | "done" | "failed";
            };
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
                realm?: string;
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
            starter: {
                key_id: string | null;
                kind: "consumer" | "operator" | "service_account" | "tenant_user";
                membership: ("owner" | "admin" | "member") | null;
                realm: string;
                role: ("readonly" | "operator" | "admin") | null;
                scopes: string[];
                sub: string;
            } | null;
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
            waiting_for: {
                approval_id?: string;
                expires_at: string | null;
                kind: "approval" | "tool_call" | "time" | "signal" | "stimulus";
                state_name: string;
            } | null;
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
            approval_id?: string;
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
    responses: {
        Refusal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getWellKnownJwksJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: "ok";
                    };
                };
            };
        };
    };
    getHealthLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                realm: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                realm: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                realm: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    getSchemasWorkflowJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                action?: string;
                actor?: string;
                cursor?: string;
                format?: "ndjson";
                limit?: number;
                offset?: number;
                outcome?: "allowed" | "denied" | "failed";
                since?: string;
                target_id?: string;
                target_type?: string;
                tenant_id?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["AuditEntry"][];
                        next_cursor: string | null;
                    };
                    "application/x-ndjson": unknown;
                };
            };
        };
    };
    getAdminDeadLetters: {
        parameters: {
            query?: {
                cursor?: string;
                kind?: string;
                limit?: number;
                offset?: number;
                since?: string;
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetter"];
                };
            };
        };
    };
    postAdminDeadLettersByIdReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        status: "replayed";
                    };
                };
            };
        };
    };
    postAdminLlmReload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
    getAdminRateLimitsOverrides: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                resource_type?: string;
                tenant_id?: string;
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    bucket: string;
                    burst_value?: number;
                    limit_value: number;
                    realm?: string;
                    resource_type: string;
                    tenant_id?: string;
                    user_id?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateOverride"];
                };
            };
        };
    };
    deleteAdminRateLimitsOverridesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                scope_id?: string;
                scope_type?: "tenant" | "user";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                kind?: "system" | "consumer" | "team" | "enterprise";
                limit?: number;
                q?: string;
                status?: "active" | "suspended" | "deleted";
                tier?: "free" | "pro" | "business" | "enterprise" | "system";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTenant"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    getAdminTenantsBySlug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    deleteAdminTenantsBySlug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TenantChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    postAdminTenantsBySlugRestore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
        };
    };
    postAdminTenantsBySlugResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TenantSuspension"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                agent_type?: string;
                cursor?: string;
                label?: string[];
                limit?: number;
                offset?: number;
                q?: string;
                scope?: "tenant" | "global";
                status?: "active" | "paused" | "archived";
                visible?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                dry_run?: boolean;
                force?: boolean;
                scope?: "tenant" | "global";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentManifest"];
                "application/x-yaml": components["schemas"]["AgentManifest"];
                "application/yaml": components["schemas"]["AgentManifest"];
                "text/plain": components["schemas"]["AgentManifest"];
                "text/x-yaml": components["schemas"]["AgentManifest"];
                "text/yaml": components["schemas"]["AgentManifest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDeployed"] | components["schemas"]["AgentDryRun"];
                };
            };
        };
    };
    getAgentsById: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                    "application/x-yaml": unknown;
                    "application/yaml": unknown;
                    "text/plain": unknown;
                    "text/x-yaml": unknown;
                    "text/yaml": unknown;
                };
            };
        };
    };
    deleteAgentsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDeleted"];
                };
            };
        };
    };
    patchAgentsById: {
        parameters: {
            query?: {
                dry_run?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
                "application/merge-patch+json": Record<string, never>;
                "application/x-yaml": Record<string, never>;
                "application/yaml": Record<string, never>;
                "text/plain": Record<string, never>;
                "text/x-yaml": Record<string, never>;
                "text/yaml": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPatched"] | components["schemas"]["AgentDryRun"];
                };
            };
        };
    };
    getAgentsByIdEvents: {
        parameters: {
            query?: {
                backlog?: number;
                events?: string;
                follow?: boolean;
                format?: "single" | "flat";
                from?: number;
                token?: string;
                verbose?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["AgentStreamEvent"];
                };
            };
        };
    };
    postAgentsByIdExecute: {
        parameters: {
            query?: {
                version?: string;
                wait_seconds?: number;
            };
            header?: {
                "Idempotency-Key"?: string;
                Prefer?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartExecution"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStarted"];
                };
            };
        };
    };
    postAgentsByIdPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdRollback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentRollbackRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    postAgentsByIdScope: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentScopeChanged"];
                };
            };
        };
    };
    patchAgentsByIdScope: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentScopeChanged"];
                };
            };
        };
    };
    getAgentsByIdStream: {
        parameters: {
            query?: {
                backlog?: number;
                events?: string;
                follow?: boolean;
                format?: "single" | "flat";
                from?: number;
                token?: string;
                verbose?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["AgentStreamEvent"];
                };
            };
        };
    };
    getAgentsByIdVersions: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
                revisions?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersions"];
                };
            };
        };
    };
    getAgentsLookupByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentDetail"];
                };
            };
        };
    };
    getApiKeys: {
        parameters: {
            query?: {
                all?: boolean;
                cursor?: string;
                limit?: number;
                offset?: number;
                status?: "active" | "revoked" | "expired";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedApiKey"];
                };
            };
        };
    };
    getApiKeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    deleteApiKeysById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyRotationInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedApiKey"];
                };
            };
        };
    };
    postApiKeysValidate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidApiKey"];
                };
            };
        };
    };
    getApprovalLinksByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        approval: components["schemas"]["PendingApproval"];
                    };
                    "text/html": unknown;
                };
            };
        };
    };
    postApprovalLinksByToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LinkDecision"];
                "application/x-www-form-urlencoded": components["schemas"]["LinkDecision"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                    "text/html": unknown;
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                action?: string;
                actor?: string;
                cursor?: string;
                format?: "ndjson";
                limit?: number;
                offset?: number;
                outcome?: "allowed" | "denied" | "failed";
                since?: string;
                target_id?: string;
                target_type?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        items: components["schemas"]["AuditEntry"][];
                        next_cursor: string | null;
                    };
                    "application/x-ndjson": unknown;
                };
            };
        };
    };
    getAuthConfig: {
        parameters: {
            query?: {
                tenant?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInConfig"];
                };
            };
        };
    };
    postBillingChangeTier: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    billing_interval?: "month" | "year";
                    proration_date?: number;
                    seats?: number;
                    target_tier: "free" | "pro" | "business" | "enterprise";
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        action: "upgrade_immediate" | "downgrade_at_period_end" | "cancel_at_period_end" | "no_change";
                        effective_at: string | null;
                        proration_amount_cents: number;
                        proration_invoice_id: string | null;
                        seats: number;
                        subscription: components["schemas"]["BillingSubscription"];
                        target_tier: "free" | "pro" | "business" | "enterprise";
                    };
                };
            };
        };
    };
    postBillingCheckout: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    cancel_url?: string;
                    price_id: string;
                    seat_price_id?: string;
                    seats?: number;
                    success_url?: string;
                    tier?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        expires_at: string;
                        session_id: string;
                        url: string;
                    };
                };
            };
        };
    };
    getBillingInvoices: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        invoices: {
                            amount: number;
                            amount_due: number;
                            amount_paid: number;
                            created: string;
                            currency: string;
                            hosted_invoice_url: string | null;
                            id: string;
                            pdf_url: string | null;
                            status: string | null;
                        }[];
                        items: {
                            amount: number;
                            amount_due: number;
                            amount_paid: number;
                            created: string;
                            currency: string;
                            hosted_invoice_url: string | null;
                            id: string;
                            pdf_url: string | null;
                            status: string | null;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postBillingPortal: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    return_url?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    billing_interval?: "month" | "year";
                    seats?: number;
                    target_tier: "free" | "pro" | "business" | "enterprise";
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        action: "upgrade_immediate" | "downgrade_at_period_end" | "cancel_at_period_end" | "no_change";
                        currency: string;
                        effective_at: string | null;
                        next_renewal_amount_cents: number;
                        proration_amount_cents: number;
                        proration_date: number;
                        seats: number;
                        target_tier: "free" | "pro" | "business" | "enterprise";
                    };
                };
            };
        };
    };
    getBillingPrices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        tiers: {
                            annual: {
                                amount: number;
                                currency: string;
                                price_id: string;
                            } | null;
                            description: string;
                            included_seats: number;
                            monthly: {
                                amount: number;
                                currency: string;
                                price_id: string;
                            } | null;
                            name: string;
                            product_id: string;
                            seat_annual: {
                                amount: number;
                                currency: string;
                                price_id: string;
                            } | null;
                            seat_monthly: {
                                amount: number;
                                currency: string;
                                price_id: string;
                            } | null;
                            tier: "pro" | "business" | "enterprise";
                        }[];
                    };
                };
            };
        };
    };
    postBillingSeats: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    extra_seats: number;
                    seat_price_id?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        extra_seats: number;
                        seat_count: number;
                        subscription: components["schemas"]["BillingSubscription"];
                        success: true;
                    };
                };
            };
        };
    };
    getBillingSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BillingSubscription"];
                };
            };
        };
    };
    getClusterNodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    getColonyInvitations: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                status?: "pending" | "accepted" | "cancelled" | "replaced" | "expired";
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                team_id?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvitation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        invitation: {
                            expires_at: string;
                            id: string;
                            invitee_email: string;
                            role: "admin" | "member";
                            status: "pending" | "accepted" | "cancelled" | "replaced" | "expired";
                            team_id: string;
                            token: string;
                        };
                    };
                };
            };
        };
    };
    deleteColonyInvitationsById: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
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
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                team_id?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMember"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberInvited"];
                };
            };
        };
    };
    deleteColonyMembersById: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                team_id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMemberRole"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    putColonyRoles: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleOfMember"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    getColonySaml: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saml"];
                };
            };
        };
    };
    putColonySaml: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSaml"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Saml"];
                };
            };
        };
    };
    getColonySubscription: {
        parameters: {
            query?: {
                team_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ColonySubscription"];
                };
            };
        };
    };
    getColonyTeams: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTeam"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    deleteColonyTeamsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getCortexMetrics: {
        parameters: {
            query?: {
                metric_type?: "all" | "summary" | "patterns" | "skills";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CortexMetrics"];
                };
            };
        };
    };
    getCortexPatterns: {
        parameters: {
            query?: {
                cursor?: string;
                error_type?: string;
                limit?: number;
                offset?: number;
                q?: string;
                query?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
                provider?: string;
                status?: "pending_oauth" | "active" | "expired" | "revoked";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    deleteCredentialsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCredentialGrant"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialGrant"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CredentialGrant"];
                };
            };
        };
    };
    deleteCredentialsByIdGrantsByGrantId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                grant_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CredentialRotation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    postCredentialsApiKey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKeyCredential"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    postCredentialsApiKeys: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKeyCredential"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
        };
    };
    postCredentialsDeviceInitiate: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDeviceConsent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceConsent"];
                };
            };
        };
    };
    postCredentialsDevicePoll: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DevicePoll"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceConsentState"];
                };
            };
        };
    };
    getCredentialsOauthCallback: {
        parameters: {
            query: {
                code?: string;
                error?: string;
                error_description?: string;
                error_uri?: string;
                iss?: string;
                scope?: string;
                session_state?: string;
                state: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthCompleted"];
                    "text/html": unknown;
                };
            };
        };
    };
    postCredentialsOauthCallback: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OAuthCallback"];
                "application/x-www-form-urlencoded": components["schemas"]["OAuthCallback"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthCompleted"];
                    "text/html": unknown;
                };
            };
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    postCredentialsOauthDeviceInitiate: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDeviceConsent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceConsent"];
                };
            };
        };
    };
    postCredentialsOauthDevicePoll: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DevicePoll"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceConsentState"];
                };
            };
        };
    };
    postCredentialsOauthInitiate: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOAuthConsent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthConsent"];
                };
            };
        };
    };
    getDashboardSummary: {
        parameters: {
            query?: {
                all_tenants?: boolean;
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
        };
    };
    getEdgeConnect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    postEdgeDaemonEnroll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    agent_version?: string;
                    name?: string;
                    public_key: string;
                    signature: string;
                    token: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
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
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
                status?: "outstanding" | "redeemed" | "expired" | "revoked";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    issued_to?: string;
                    name?: string;
                    tags?: string[];
                    team_tenant_id?: string;
                    ttl_seconds?: number;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedEdgeEnrollmentToken"];
                };
            };
        };
    };
    deleteEdgeEnrollmentTokensById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    postEdgeFleetByIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        already_terminal: number;
                        cancelled: number;
                        fleet_command_id: string;
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    postEdgeFleetByIdPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    postEdgeFleetByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    postEdgeFleetByIdRetry: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    policy?: unknown;
                    statuses?: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                        stream_url: string;
                        targets_resolved: number;
                        targets_skipped: number;
                    };
                };
            };
        };
    };
    postEdgeFleetInvoke: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    args?: {
                        [key: string]: unknown;
                    };
                    policy?: unknown;
                    security_context_name?: string | null;
                    target: unknown;
                    tool?: string;
                    tool_name?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                        stream_url: string;
                        targets_resolved: number;
                        targets_skipped: number;
                    };
                };
            };
        };
    };
    postEdgeFleetPreview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    policy?: unknown;
                    target: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetPreview"];
                };
            };
        };
    };
    getEdgeFleetRuns: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                outcome?: "running" | "complete" | "halted" | "cancelled";
                status?: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                tool?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                node_status?: "pending" | "dispatched" | "running" | "ok" | "err" | "timed_out" | "cancelled" | "refused" | "lost" | "expired" | "not_started";
                offset?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetRunDetail"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string | null;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        already_terminal: number;
                        cancelled: number;
                        fleet_command_id: string;
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    getEdgeFleetRunsByIdEvents: {
        parameters: {
            query?: {
                from?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
        };
    };
    postEdgeFleetRunsByIdPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    postEdgeFleetRunsByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        pause_reasons: ("requested" | "canary_done" | "dispatch_disabled" | "tenant_suspended")[];
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                    };
                };
            };
        };
    };
    postEdgeFleetRunsByIdRetry: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    policy?: unknown;
                    statuses?: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["FleetRunEvent"];
                    "text/event-stream": components["schemas"]["FleetRunEvent"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        fleet_command_id: string;
                        status: "awaiting_approval" | "running" | "paused" | "halting" | "cancelling" | "complete" | "halted" | "cancelled";
                        stream_url: string;
                        targets_resolved: number;
                        targets_skipped: number;
                    };
                };
            };
        };
    };
    getEdgeFleetRunsByIdStream: {
        parameters: {
            query?: {
                from?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    pinned_members?: string[];
                    selector?: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeGroup"];
                };
            };
        };
    };
    getEdgeGroupsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeGroupDetail"];
                };
            };
        };
    };
    deleteEdgeGroupsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchEdgeGroupsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    pinned_members?: string[];
                    selector?: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeGroup"];
                };
            };
        };
    };
    getEdgeHosts: {
        parameters: {
            query?: {
                connected?: boolean;
                cursor?: string;
                include_revoked?: boolean;
                label?: string[];
                limit?: number;
                offset?: number;
                status?: "connected" | "unhealthy" | "disconnected" | "revoked";
                tag?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeHostDetail"];
                };
            };
        };
    };
    deleteEdgeHostsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchEdgeHostsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    accepting?: boolean;
                    add_tags?: string[];
                    name?: string;
                    remove_tags?: string[];
                    tags?: string[];
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeHost"];
                };
            };
        };
    };
    postEdgeHostsByIdTags: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    add?: string[];
                    remove?: string[];
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeHost"];
                };
            };
        };
    };
    getEdgeSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetSettings"];
                };
            };
        };
    };
    putEdgeSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    agent_runs?: "approve" | "allow" | "deny";
                    approve_above?: number | null;
                    approve_all?: boolean;
                    dispatch_enabled?: boolean;
                    self_approval?: boolean;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetSettings"];
                };
            };
        };
    };
    getExecutions: {
        parameters: {
            query?: {
                agent_id?: string;
                cursor?: string;
                label?: string[];
                limit?: number;
                offset?: number;
                parent_execution_id?: string;
                started_after?: string;
                started_before?: string;
                status?: string;
                workflow_execution_id?: string;
                workflow_name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                version?: string;
                wait_seconds?: number;
            };
            header?: {
                "Idempotency-Key"?: string;
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartNamedExecution"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStarted"];
                };
            };
        };
    };
    getExecutionsById: {
        parameters: {
            query?: {
                include?: string;
                wait_seconds?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionRecord"];
                };
            };
        };
    };
    deleteExecutionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionDeleted"];
                };
            };
        };
    };
    postExecutionsByIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CancelExecution"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionCancelled"];
                };
            };
        };
    };
    getExecutionsByIdEvents: {
        parameters: {
            query?: {
                events?: string;
                follow?: boolean;
                format?: "single" | "flat";
                from?: number;
                token?: string;
                verbose?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ExecutionEvent"];
                };
            };
        };
    };
    getExecutionsByIdFiles: {
        parameters: {
            query?: {
                path?: string;
                recursive?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        entries: {
                            is_dir: boolean;
                            mime_type: string | null;
                            modified_at: string;
                            name: string;
                            path: string;
                            sha256: string | null;
                            size_bytes: number;
                            type: "file" | "dir";
                        }[];
                        items: {
                            is_dir: boolean;
                            mime_type: string | null;
                            modified_at: string;
                            name: string;
                            path: string;
                            sha256: string | null;
                            size_bytes: number;
                            type: "file" | "dir";
                        }[];
                        truncated: boolean;
                    };
                };
            };
        };
    };
    getExecutionsByIdFilesByPath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
        };
    };
    getExecutionsByIdIterations: {
        parameters: {
            query?: {
                include?: string;
                wait_seconds?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                include?: string;
                wait_seconds?: number;
            };
            header?: never;
            path: {
                id: string;
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IterationRecord"];
                };
            };
        };
    };
    postExecutionsByIdRetry: {
        parameters: {
            query?: {
                version?: string;
                wait_seconds?: number;
            };
            header?: {
                "Idempotency-Key"?: string;
                Prefer?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryExecution"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionRetried"];
                };
            };
        };
    };
    getExecutionsByIdStream: {
        parameters: {
            query?: {
                events?: string;
                follow?: boolean;
                format?: "single" | "flat";
                from?: number;
                token?: string;
                verbose?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ExecutionEvent"];
                };
            };
        };
    };
    getHumanApprovals: {
        parameters: {
            query?: {
                cursor?: string;
                descendants?: boolean;
                execution_id?: string;
                kind?: "workflow" | "fleet_run" | "tool_call";
                limit?: number;
                offset?: number;
                workflow_name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Approve"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                };
            };
        };
    };
    getHumanApprovalsByIdArguments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalArguments"];
                };
            };
        };
    };
    getHumanApprovalsByIdHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalRecord"];
                };
            };
        };
    };
    postHumanApprovalsByIdLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalLinkRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalLink"];
                };
            };
        };
    };
    postHumanApprovalsByIdReject: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reject"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDecided"] | components["schemas"]["ApprovalCounted"];
                };
            };
        };
    };
    getHumanApprovalsHistory: {
        parameters: {
            query?: {
                cursor?: string;
                decided_by?: string;
                execution_id?: string;
                from?: string;
                limit?: number;
                offset?: number;
                status?: string;
                to?: string;
                workflow_name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    payload: {
                        id: string | number;
                        jsonrpc: "2.0";
                        method: string;
                        params?: {
                            [key: string]: unknown;
                        };
                    };
                    protocol: "seal/v1";
                    security_token: string;
                    signature: string;
                    timestamp: string | number;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    postMcp: {
        parameters: {
            query?: never;
            header?: {
                "X-Svc-Security-Context"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "text/event-stream": components["schemas"]["McpEvent"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    getModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Models"];
                };
            };
        };
    };
    getObservabilityDashboard: {
        parameters: {
            query?: {
                all_tenants?: boolean;
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
        };
    };
    getObservabilitySecurityIncidents: {
        parameters: {
            query?: {
                all_tenants?: boolean;
                category?: string;
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                severity?: string;
                since?: string;
                tenant_id?: string;
                type?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                all_tenants?: boolean;
                category?: string;
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                severity?: string;
                since?: string;
                tenant_id?: string;
                type?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
                q?: string;
                realm?: string;
                status?: "invited" | "active" | "locked" | "disabled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                realm?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPerson"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitedPerson"];
                };
            };
        };
    };
    deletePeopleById: {
        parameters: {
            query?: {
                realm?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                realm?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PersonChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Person"];
                };
            };
        };
    };
    postPeopleByIdReset: {
        parameters: {
            query?: {
                realm?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PersonReset"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                language?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Runtimes"];
                };
            };
        };
    };
    postSealAttest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    agent_id?: string;
                    agent_public_key?: string;
                    container_id?: string;
                    execution_id?: string;
                    principal_subject?: string;
                    public_key?: string;
                    public_key_pem?: string;
                    security_context?: string;
                    task_summary?: string;
                    tenant_id?: string;
                    user_id?: string;
                    workload_id?: string;
                    zaru_tier?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealAttestation"];
                };
            };
        };
    };
    postSealInvoke: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    payload: {
                        id: string | number;
                        jsonrpc: "2.0";
                        method: string;
                        params?: {
                            [key: string]: unknown;
                        };
                    };
                    protocol: "seal/v1";
                    security_token: string;
                    signature: string;
                    timestamp: string | number;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    getSealSessions: {
        parameters: {
            query?: {
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                status?: "active" | "expired" | "revoked";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    allowed_tool_patterns?: string[] | null;
                    execution_id: string;
                    public_key_b64: string;
                    security_context_name?: string;
                    sub?: string;
                };
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    getSealSessionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    deleteSealSessionsById: {
        parameters: {
            query?: {
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                limit?: number;
                offset?: number;
                q?: string;
                security_context?: string;
                source?: string;
            };
            header?: {
                "x-svc-security-context"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attestation_endpoint: string;
                        count: number;
                        invoke_endpoint: string;
                        items: {
                            aliases: string[];
                            annotations: {
                                destructiveHint: boolean;
                                idempotentHint: boolean;
                                openWorldHint: boolean;
                                readOnlyHint: boolean;
                            };
                            description: string;
                            executor: "sandbox" | "server" | "edge";
                            fleetCapable?: boolean;
                            input_schema: unknown;
                            inputSchema: unknown;
                            name: string;
                            outputSchema?: unknown;
                            server?: string;
                            source: "builtin" | "management" | "mcp" | "edge";
                        }[];
                        next_cursor: string | null;
                        protocol: "seal/v1";
                        security_context: string | null;
                        tools: {
                            aliases: string[];
                            annotations: {
                                destructiveHint: boolean;
                                idempotentHint: boolean;
                                openWorldHint: boolean;
                                readOnlyHint: boolean;
                            };
                            description: string;
                            executor: "sandbox" | "server" | "edge";
                            fleetCapable?: boolean;
                            input_schema: unknown;
                            inputSchema: unknown;
                            name: string;
                            outputSchema?: unknown;
                            server?: string;
                            source: "builtin" | "management" | "mcp" | "edge";
                        }[];
                    };
                };
            };
        };
    };
    getSecrets: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                path_prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Secret"];
                };
            };
        };
    };
    putSecretsByPath: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
                "If-None-Match"?: string;
            };
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretWritten"];
                };
            };
        };
    };
    postSecretsByPath: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
                "If-Match"?: string;
                "If-None-Match"?: string;
            };
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretWritten"];
                };
            };
        };
    };
    deleteSecretsByPath: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretDeleted"];
                };
            };
        };
    };
    getSecurityContexts: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecurityContext"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    getSecurityContextsByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    putSecurityContextsByName: {
        parameters: {
            query?: never;
            header?: {
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecurityContextChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityContext"];
                };
            };
        };
    };
    deleteSecurityContextsByName: {
        parameters: {
            query?: {
                force?: boolean;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedToolServer"];
                };
            };
        };
    };
    postSecurityContextsByNameEvaluate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    arguments?: {
                        [key: string]: unknown;
                    };
                    execution_id?: string;
                    tool_name: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecurityContextVerdict"];
                };
            };
        };
    };
    getSecurityIncidents: {
        parameters: {
            query?: {
                all_tenants?: boolean;
                category?: string;
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                severity?: string;
                since?: string;
                tenant_id?: string;
                type?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                channel?: "api" | "webhook" | "replay";
                cursor?: string;
                dead_letter?: boolean;
                from?: string;
                limit?: number;
                offset?: number;
                source?: string;
                status?: string;
                to?: string;
                workflow_execution_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "idempotency-key"?: string;
                prefer?: string;
                "x-idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewStimulus"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusRouted"] | components["schemas"]["StimulusIgnored"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    getStimuliById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusDetail"];
                };
            };
        };
    };
    postStimuliByIdDiscard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DiscardStimulus"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stimulus"];
                };
            };
        };
    };
    postStimuliByIdReplay: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayStimulus"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusReplayed"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayReceived"];
                };
            };
        };
    };
    getStimuliDeadLetters: {
        parameters: {
            query?: {
                channel?: "api" | "webhook" | "replay";
                cursor?: string;
                from?: string;
                limit?: number;
                offset?: number;
                source?: string;
                status?: string;
                to?: string;
                workflow_execution_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayStimuli"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimuliReplayed"];
                };
            };
        };
    };
    getStimulusRoutes: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSource"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    getStimulusRoutesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Source"];
                };
            };
        };
    };
    putStimulusRoutesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SourceChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    deleteStimulusRoutesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceDeleted"];
                };
            };
        };
    };
    patchStimulusRoutesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SourceChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedSource"];
                };
            };
        };
    };
    postStimulusRoutesByIdRotateSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretRotated"];
                };
            };
        };
    };
    getStimulusRoutesRouter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
        };
    };
    putStimulusRoutesRouter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RouterRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Router"];
                };
            };
        };
    };
    deleteStimulusRoutesRouter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RouterDeleted"];
                };
            };
        };
    };
    getStorageViolations: {
        parameters: {
            query?: {
                all_tenants?: boolean;
                category?: string;
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                severity?: string;
                since?: string;
                tenant_id?: string;
                type?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                execution_id?: string;
                limit?: number;
                offset?: number;
                status?: "active" | "dissolving" | "dissolved";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    postSwarmsByIdCancel: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Swarm"];
                };
            };
        };
    };
    getTeams: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTeam"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    deleteTeamsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getToolInvocations: {
        parameters: {
            query?: {
                cursor?: string;
                decision?: "allow" | "deny";
                execution_id?: string;
                limit?: number;
                offset?: number;
                outcome?: "waiting" | "running" | "success" | "failed" | "interrupted" | "withdrawn";
                since?: string;
                tool_name?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
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
                };
            };
        };
    };
    getToolServers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToolServer"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    deleteToolServersByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedToolServer"];
                };
            };
        };
    };
    patchToolServersByName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolServerChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    postToolServersByNameAccept: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    tools?: string[];
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByNameLogs: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
                };
            };
        };
    };
    getToolServersByNameTools: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                cursor?: string;
                from?: string;
                group_by?: "day" | "agent" | "model" | "workflow" | "tool";
                limit?: number;
                offset?: number;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        from: string;
                        group_by: "day" | "agent" | "model" | "workflow" | "tool";
                        items: components["schemas"]["UsageRow"][];
                        next_cursor: string | null;
                        to: string;
                        totals: components["schemas"]["UsageTotals"];
                        usage: components["schemas"]["UsageRow"][];
                    };
                    "text/csv": unknown;
                };
            };
        };
    };
    getUserRateLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        buckets: components["schemas"]["UserRate"][];
                        count: number;
                        items: components["schemas"]["UserRate"][];
                        tenant_id: string;
                        tier: string;
                        usage: components["schemas"]["UserRate"][];
                        user_id: string;
                    };
                };
            };
        };
    };
    getUserRateLimitsUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        buckets: components["schemas"]["UserRate"][];
                        count: number;
                        items: components["schemas"]["UserRate"][];
                        tenant_id: string;
                        tier: string;
                        usage: components["schemas"]["UserRate"][];
                        user_id: string;
                    };
                };
            };
        };
    };
    getVolumes: {
        parameters: {
            query?: {
                cursor?: string;
                label?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVolume"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    getVolumesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    deleteVolumesById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Volume"];
                };
            };
        };
    };
    getVolumesByIdFiles: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                path?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        entries: {
                            is_dir: boolean;
                            mime_type: string | null;
                            modified_at: string;
                            name: string;
                            path: string;
                            sha256: string | null;
                            size_bytes: number;
                            type: "file" | "dir";
                        }[];
                        items: {
                            is_dir: boolean;
                            mime_type: string | null;
                            modified_at: string;
                            name: string;
                            path: string;
                            sha256: string | null;
                            size_bytes: number;
                            type: "file" | "dir";
                        }[];
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
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretDeleted"];
                };
            };
        };
    };
    getVolumesByIdFilesDownload: {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
        };
    };
    postVolumesByIdFilesMkdir: {
        parameters: {
            query?: {
                path?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MakeDirectory"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveFileInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                path?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                path?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileUploaded"];
                };
            };
        };
    };
    getVolumesQuota: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageQuota"];
                };
            };
        };
    };
    postWebhooksBySource: {
        parameters: {
            query?: never;
            header?: {
                prefer?: string;
                "x-idempotency-key"?: string;
                "x-svc-signature"?: string;
            };
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    postWebhooksBySourceByRouteId: {
        parameters: {
            query?: never;
            header?: {
                prefer?: string;
                "x-idempotency-key"?: string;
                "x-svc-signature"?: string;
            };
            path: {
                route_id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StimulusReceived"];
                };
            };
        };
    };
    postWebhooksStripe: {
        parameters: {
            query?: never;
            header: {
                "Stripe-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": {
                    id: string;
                    type: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        duplicate?: true;
                        received: true;
                    };
                };
            };
        };
    };
    getWorkflows: {
        parameters: {
            query?: {
                all_versions?: boolean;
                cursor?: string;
                label?: string[];
                limit?: number;
                offset?: number;
                scope?: "tenant" | "global";
                tag?: string;
                visible?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
                force?: boolean;
                scope?: "tenant" | "global";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRegistered"];
                };
            };
        };
    };
    getWorkflowsByRef: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDetail"];
                    "application/x-yaml": unknown;
                    "application/yaml": unknown;
                    "text/plain": unknown;
                    "text/x-yaml": unknown;
                    "text/yaml": unknown;
                };
            };
        };
    };
    deleteWorkflowsByRef: {
        parameters: {
            query?: {
                force?: boolean;
                version?: string;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDeleted"];
                };
            };
        };
    };
    postWorkflowsByRefExecute: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartWorkflow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsByRefRun: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartWorkflow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    getWorkflowsByRefSchedules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdBackfill: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    from: string;
                    overlap?: "skip" | "queue" | "allow" | "cancel_previous";
                    to: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSchedule"];
                };
            };
        };
    };
    postWorkflowsByRefSchedulesByIdRun: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    input?: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsByRefScope: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowScopeChanged"];
                };
            };
        };
    };
    patchWorkflowsByRefScope: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScopeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowScopeChanged"];
                };
            };
        };
    };
    getWorkflowsByRefVersions: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                a: string;
                b: string;
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowVersionsDiff"];
                    "text/plain": unknown;
                };
            };
        };
    };
    getWorkflowsByRefYaml: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: never;
            path: {
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/yaml": unknown;
                };
            };
        };
    };
    getWorkflowsExecutions: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                offset?: number;
                parent_execution_id?: string;
                schedule_id?: string;
                status?: string;
                workflow_id?: string;
                workflow_name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
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
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    deleteWorkflowsExecutionsById: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRunRemoved"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    compensate?: boolean;
                    reason?: string;
                };
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowCancelRequested"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdEvents: {
        parameters: {
            query?: {
                follow?: boolean;
                from?: number;
                token?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdFork: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkWorkflow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowForked"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdGraph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRunGraph"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdItems: {
        parameters: {
            query: {
                cursor?: string;
                limit?: number;
                offset?: number;
                state: string;
                status?: "pending" | "running" | "completed" | "failed" | "cancelled";
                visit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        items: {
                            attempts: number;
                            error: string | null;
                            execution_id: string | null;
                            index: number;
                            result: unknown;
                            status: "pending" | "running" | "completed" | "failed" | "cancelled";
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    postWorkflowsExecutionsByIdItemsByIndexCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                index: number;
            };
            cookie?: never;
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
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: number;
                        error: string | null;
                        execution_id: string | null;
                        index: number;
                        result: unknown;
                        status: "pending" | "running" | "completed" | "failed" | "cancelled";
                    };
                };
            };
        };
    };
    postWorkflowsExecutionsByIdItemsByIndexRetry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                index: number;
            };
            cookie?: never;
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
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: number;
                        error: string | null;
                        execution_id: string | null;
                        index: number;
                        result: unknown;
                        status: "pending" | "running" | "completed" | "failed" | "cancelled";
                    };
                };
            };
        };
    };
    getWorkflowsExecutionsByIdLogs: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowLog"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdLogsStream: {
        parameters: {
            query?: {
                follow?: boolean;
                from?: number;
                token?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRunRecord"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdRetry: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryWorkflow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRetried"];
                };
            };
        };
    };
    postWorkflowsExecutionsByIdSignal: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SignalWorkflow"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowSignalled"];
                };
            };
        };
    };
    getWorkflowsExecutionsByIdStream: {
        parameters: {
            query?: {
                follow?: boolean;
                from?: number;
                token?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["WorkflowEvent"];
                };
            };
        };
    };
    postWorkflowsExecutionsMigrate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateWorkflows"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowsMigrated"];
                };
            };
        };
    };
    postWorkflowsTemporalExecute: {
        parameters: {
            query?: {
                version?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartNamedWorkflow"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStarted"];
                };
            };
        };
    };
    postWorkflowsTemporalRegister: {
        parameters: {
            query?: {
                force?: boolean;
                scope?: "tenant" | "global";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRegistered"];
                };
            };
        };
    };
    postWorkflowsValidate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": components["schemas"]["WorkflowManifest"] | {
                    manifest: components["schemas"]["WorkflowManifest"];
                } | {
                    manifest_yaml: string;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowJudgement"];
                };
            };
        };
    };
}
