/** The pages of the navigation rail, in order. */
export const PAGES = [
  'tester',
  'calls',
  'approvals',
  'tools',
  'resources',
  'devices',
  'upstreams',
  'agents',
  'ledger',
  'metrics',
  'settings',
] as const;

export type PageName = (typeof PAGES)[number];
