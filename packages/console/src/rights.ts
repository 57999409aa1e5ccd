import type { CurrentSessionView } from '@patchboard/wire';

/**
 * What each page and action needs. The one place that the navigation, the pages, their buttons and their requests follow.
 * The server decides; this only hides what it would refuse.
 */

/** A page needs one of its scopes; none: it is open to every visitor. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  tester: ['tools:call'],
  calls: ['calls:read'],
  call: ['calls:read'],
  runs: ['calls:read'],
  run: ['calls:read'],
  trace: ['calls:read'],
  compare: ['calls:read'],
  approvals: ['approvals:decide'],
  tools: ['tools:call'],
  resources: ['calls:read'],
  devices: ['metrics:read'],
  upstreams: ['metrics:read'],
  nodes: ['metrics:read'],
  agents: ['keys:write', 'policy:write'],
  ledger: ['ledger:read'],
  metrics: ['calls:read'],
  settings: [],
  login: [],
  nowhere: [],
};

/** Pages about the whole server: a key of a tenant other than the default one is refused. */
const OF_SERVER: readonly string[] = ['nodes'];

/** The scope of each request that is not the main one of its page, and of each action. */
const ACTIONS = {
  listTools: 'tools:call',
  callTools: 'tools:call',
  readCalls: 'calls:read',
  readLedger: 'ledger:read',
  readStats: 'metrics:read',
  readDevices: 'metrics:read',
  readUpstreams: 'metrics:read',
  decide: 'approvals:decide',
  manageKeys: 'keys:write',
  managePolicy: 'policy:write',
  listTenants: 'policy:write',
  /** Needs the operator token, or a session opened with it. */
  manageUpstreams: 'operator',
} as const;

export type Action = keyof typeof ACTIONS;

/**
 * True also while the session is not known, and in local mode: then a refused page shows how to sign in, which is of
 * no use to the holder of a key.
 */
function isUnrestricted(session: CurrentSessionView | null): boolean {
  return session === null || session.kind === 'local' || session.kind === 'operator';
}

export function mayOpen(session: CurrentSessionView | null, page: string): boolean {
  if (session === null || isUnrestricted(session)) return true;
  if (OF_SERVER.includes(page) && session.tenant !== 'default') return false;
  const scopes = scopesOfPage(page);
  return scopes.length === 0 || scopes.some((scope) => session.scopes.includes(scope));
}

export function mayDo(session: CurrentSessionView | null, action: Action): boolean {
  return session === null || isUnrestricted(session) || session.scopes.includes(ACTIONS[action]);
}

/** The scopes of which one opens the page; empty: it needs none. */
export function scopesOfPage(page: string): readonly string[] {
  return PAGES[page] ?? [];
}
