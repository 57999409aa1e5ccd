import type { Principal } from './principal.ts';

/** The permissions of a credential. Every route names the one it needs. */
export const SCOPES = [
  /** List and call tools; cancel and replay own calls, and with `calls:read` every one that the principal sees. */
  'tools:call',
  /** Read calls, runs, events, resources and prompts. */
  'calls:read',
  /** Register tools and run calls for them. */
  'tools:serve',
  /** Read the ledger. */
  'ledger:read',
  /** Read metrics and statistics. */
  'metrics:read',
  /** Decide approvals; manage grants. */
  'approvals:decide',
  /** Read and change policy. */
  'policy:write',
  /** Mint and revoke keys. */
  'keys:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: unknown): value is Scope {
  return typeof value === 'string' && (SCOPES as readonly string[]).includes(value);
}

/** The default scopes of each kind of principal. */
export const SCOPES_OF_KIND: Readonly<Record<Principal['kind'], readonly Scope[]>> = {
  agent: ['tools:call', 'calls:read'],
  client: ['tools:serve'],
  service: ['tools:call', 'calls:read', 'ledger:read'],
  operator: SCOPES,
  // Decisions, keys, policy and grants need the operator token: no agent on this machine approves its own call.
  local: ['tools:call', 'calls:read', 'tools:serve', 'ledger:read', 'metrics:read'],
};
