/**
 * The tiers of the tests. The suffix of a file selects its tier (`calls.browser.test.ts`); a file without one belongs to the
 * tier of its folder. `vitest.config.ts` makes one vitest project of each tier.
 */
export type Tier = 'unit' | 'integration' | 'browser' | 'long';

export const TIERS: readonly Tier[] = ['unit', 'integration', 'browser', 'long'];

/** Without a suffix: code and scripts are tested in process, everything under `test/` may start a server. */
const FOLDERS: Readonly<Record<Tier, readonly string[]>> = {
  unit: ['packages/*/src', 'scripts'],
  integration: ['packages/*/test', 'examples'],
  browser: [],
  long: [],
};

/** The patterns of the files that belong to a tier, as vitest takes them. */
export function patternsOf(tier: Tier): { include: string[]; exclude: string[] } {
  const suffixed = (name: string) => `**/*.${name}.test.ts`;
  return {
    include: [...FOLDERS[tier].map((folder) => `${folder}/**/*.test.ts`), suffixed(tier)],
    exclude: ['**/node_modules/**', '**/dist/**', ...TIERS.filter((name) => name !== tier).map(suffixed)],
  };
}
