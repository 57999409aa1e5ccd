/** The pages of the navigation rail, in order. */
export const PAGES = [
  'tester',
  'calls',
  'approvals',
  'tools',
  'devices',
  'agents',
  'ledger',
  'metrics',
  'settings',
] as const;

export type PageName = (typeof PAGES)[number];
