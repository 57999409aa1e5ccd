import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerProcess } from '../../packages/patchboard/test/support/server-process.ts';
import { startFixtureServer } from '../fixture-server.ts';
import { judge, scenariosOf, type Check, type ScenarioResult } from './referee.ts';
import { SCENARIOS, WITHOUT_CHECKS } from './scenarios.ts';

/** The runs take 25 s together: mostly the suite waits. */
const LIMIT_MS = 280_000;

const SELECTIONS = [{ requirements: '2026-07-28' }, { requirements: '2025-11-25' }, { suite: 'all' }];

/** One for each selection: some scenarios change the list of tools that others read. */
let servers: readonly ServerProcess[];
let all: string[];
/** For each selection: the scenarios that the suite has for it, and the results. */
let runs: { readonly names: string[]; readonly results: ScenarioResult[] }[];

beforeAll(async () => {
  servers = await Promise.all(SELECTIONS.map(() => startFixtureServer()));
  all = await scenariosOf();
  runs = await Promise.all(
    SELECTIONS.map(async (selection, index) => ({
      results: await judge(`${servers[index]?.url}/mcp`, selection),
      names: selection.requirements === undefined ? all : await scenariosOf(selection.requirements),
    })),
  );
}, LIMIT_MS);

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

describe('the conformance suite of MCP', () => {
  it('has the scenarios that are known here', () => {
    expect(all.toSorted()).toEqual(SCENARIOS.toSorted());
  });

  describe.each(SELECTIONS.map((selection, index) => ({ selection, index })))(
    'run with $selection',
    ({ index }) => {
      const results = (): readonly ScenarioResult[] => runs[index]?.results ?? [];
      const checksWith = (...statuses: Check['status'][]): string[] =>
        results().flatMap(({ scenario, checks }) =>
          checks
            .filter(({ status }) => statuses.includes(status))
            .map(({ id, errorMessage, description }) => `${scenario}: ${id}: ${errorMessage ?? description}`),
        );

      it('runs every scenario', () => {
        const names = results().map(({ scenario }) => scenario);
        expect(names.toSorted()).toEqual(runs[index]?.names.toSorted());
      });

      it('finds nothing wrong with the server', () => {
        expect(checksWith('FAILURE', 'WARNING')).toEqual([]);
      });

      it('checks something in every scenario, except those that do not apply', () => {
        const unchecked = results()
          .filter(({ checks }) => !checks.some(({ status }) => status === 'SUCCESS'))
          .map(({ scenario }) => scenario);
        expect(unchecked.filter((name) => !WITHOUT_CHECKS.includes(name))).toEqual([]);
      });
    },
  );
});
