/** The pages of the rail, in its order. */
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
