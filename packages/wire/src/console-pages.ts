/** The pages of the console, in the order of its navigation: each is at `/ui/` and its name. */
export const CONSOLE_PAGES = [
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
export type ConsolePageName = (typeof CONSOLE_PAGES)[number];
