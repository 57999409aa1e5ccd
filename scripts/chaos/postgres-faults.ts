/** What the scenario does to a server and its database, under load and at random moments. */
export const POSTGRES_FAULTS = [
  'database killed',
  'server killed',
  'database stopped at once',
  'killed at a failpoint',
  'connections terminated',
  'both killed',
  'database restarted',
  'server frozen',
  'database away',
  'server replaced',
] as const;

export type PostgresFault = (typeof POSTGRES_FAULTS)[number];
