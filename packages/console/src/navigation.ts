/** The pages of the navigation rail, in order. */
export const PAGES = [
  'tester',
  'calls',
  'runs',
  'approvals',
  'tools',
  'resources',
  'devices',
  'upstreams',
  'nodes',
  'agents',
  'ledger',
  'metrics',
  'settings',
] as const;

export type PageName = (typeof PAGES)[number];
