import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Ended } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;

function run(command: string, columns?: number): Promise<Ended> {
  return runCli(
    command.split(' '),
    { XDG_CONFIG_HOME: place.folder, ...place.environment },
    undefined,
    columns,
  );
}

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve(`policy: {default: {requireApprovalTools: ['calculation.*']}}\n`);
  for (const decision of ['approve', 'deny', null]) {
    const { out } = await run('call calculation.eval expression=1 --run waits --no-wait');
    if (decision !== null) await run(`${decision} ${out.trim()} --yes`);
    if (decision === 'approve') await run(`calls tail ${out.trim()}`);
  }
  // Ended calls are listed when the index has them.
  await waitFor(async () => {
    expect((await run('runs show waits --select .tool_calls[].state')).out.split('\n')).toHaveLength(4);
  });
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

describe('runs show', { timeout: LONG }, () => {
  it.each([40, 80, 120])('shows at %i columns what each call waited for', async (columns) => {
    const { out } = await run('runs show waits', columns);
    const text = out.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/calculation\.eval COMPLETED .*?waited approval [\d.]+ m?s \(approved by \S+\)/);
    expect(text).toMatch(/calculation\.eval DENIED .*?waited approval [\d.]+ m?s \(denied by \S+\)/);
    expect(text).toMatch(/calculation\.eval APPROVAL_REQUIRED .*?waited approval [\d.]+ m?s \(waiting\)/);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  });
});
