import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clientScenarios, judgeClient } from './referee.ts';
import { CLIENT_SCENARIOS, OTHER_CLIENT_SCENARIOS } from './scenarios.ts';

const COMMAND = `${process.execPath} ${fileURLToPath(new URL('gateway-client.ts', import.meta.url))}`;

describe('the conformance suite of MCP, with the gateway as its client', () => {
  it('has the client scenarios that are known here', async () => {
    const others = (await clientScenarios()).filter((name) => !CLIENT_SCENARIOS.includes(name));
    expect(others.filter((name) => !OTHER_CLIENT_SCENARIOS.test(name))).toEqual([]);
  });

  it.each(CLIENT_SCENARIOS)('finds nothing wrong in %s', async (scenario) => {
    const checks = await judgeClient(COMMAND, scenario);
    const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    expect(
      failed.map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`),
    ).toEqual([]);
    expect(checks.filter(({ status }) => status === 'SUCCESS')).not.toEqual([]);
  });
});
