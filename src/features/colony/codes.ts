/** What every route of a colony may be refused with, where it finds which colony is meant. */
export const colonyCodes = ["team_context_required", "not_a_team_member", "colony_suspended"] as const;
