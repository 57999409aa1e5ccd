import { createClient } from '@patchboard/client';
import type { CallView, RunView } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Ended } from '../support/run-cli.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;

function run(argv: readonly string[], columns?: number): Promise<Ended> {
  return runCli(argv, { XDG_CONFIG_HOME: place.folder, ...place.environment }, undefined, columns);
}

async function selected(argv: readonly string[], path: string): Promise<string[]> {
  const { code, out, error } = await run([...argv, '--select', path]);
  expect([code, error]).toEqual([0, '']);
  return out.split('\n').slice(0, -1);
}

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve();
  const call = (expression: string, runId: string): Promise<Ended> =>
    run(['call', 'calculation.eval', `expression=${expression}`, '--run', runId]);
  for (const expression of ['1+1', '1+2', '1/']) await call(expression, 'run-of-three');
  await call('2+2', 'run-of-one');
  await run(['call', 'nothing.like_it']);
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

describe('calls ls', { timeout: LONG }, () => {
  it('finds calls by a query, of words or an option', async () => {
    const failed = await selected(
      ['calls', 'ls', 'tool:calc*', 'state:failed'],
      '.tool_calls[].args.expression',
    );
    expect(failed).toEqual(['1/']);
    const oldest = ['calls', 'ls', '--query', 'run:run-of-three', '--order', 'asc', '--since', '1h'];
    expect(await selected(oldest, '.tool_calls[].args.expression')).toEqual(['1+1', '1+2', '1/']);
    const { out } = await run(['calls', 'ls', 'code:input_invalid']);
    expect(out).toMatch(/CODE .*AGENT/);
    expect(out).toMatch(/FAILED +input_invalid .*calculation\.eval +local/);
  });

  it('takes a query that begins with what it excludes, also for the next page', async () => {
    const path = '.tool_calls[].args.expression';
    const words = ['calls', 'ls', '-state:failed', '--order', 'asc', 'run:run-of-three'];
    expect(await selected(words, path)).toEqual(['1+1', '1+2']);
    expect(await selected(['calls', '-code:none run:run-of-one'], path)).toEqual(['2+2']);
    const { error } = await run(['calls', 'ls', '-state:failed', '--limit', '1']);
    expect(error).toMatch(/^more: patchboard calls ls ' -state:failed' --limit 1 --cursor \S+$/m);
    expect((await run(['metrics', '-tool:none'])).code).toBe(0);
    expect((await run(['calls', 'ls', '-x'])).error).toContain("unknown option '-x'");
    expect((await run(['calls', 'ls', '--run', '-a:b'])).error).toContain('no such run: -a:b');
  });

  it('takes states by the names that the console shows', async () => {
    expect((await run(['calls', 'ls', 'state:running'])).error).toBe('no calls\n');
    for (const argv of [['state:Succeeded'], ['--state', 'succeeded']])
      expect(await selected(['calls', 'ls', ...argv], '.tool_calls[].state')).toEqual(
        Array(3).fill('COMPLETED'),
      );
    expect(await selected(['calls', 'ls', '--state', 'ended'], '.tool_calls[].state')).toHaveLength(4);
    expect((await run(['calls', 'ls', '--state', 'odd'])).code).toBe(2);
  });

  it('lists refused requests, which made no call', async () => {
    const { code, out } = await run(['calls', 'ls', 'state:refused', '--tool', 'nothing.*']);
    expect(code).toBe(0);
    expect(out).toMatch(/tool_not_found +nothing\.like_it +local .*tool not found/);
    expect((await run(['calls', 'ls', 'state:refused', '--run', 'x'])).error).toContain('--run is for calls');
  });

  it('marks what is wrong with a query, and sends no request', async () => {
    const { code, error } = await run([
      'calls',
      'ls',
      'sate:failed 北京 ran>2x',
      '--url',
      'http://127.0.0.1:9',
    ]);
    expect(code).toBe(2);
    const [, first, mark, why, second, mark2] = error.split('\n');
    expect([first, mark]).toEqual(['  sate:failed 北京 ran>2x', '  ^^^^']);
    expect(why).toContain('did you mean state?');
    expect([second, mark2]).toEqual(['  sate:failed 北京 ran>2x', `${' '.repeat(23)}^^`]);
  });

  it('prints the command of the next page until there is none', async () => {
    const seen: string[] = [];
    let argv = ['calls', 'ls', 'tool:calculation.eval', '--limit', '3'];
    for (let more = true; more;) {
      const { out, error } = await run(argv);
      seen.push(...(out.match(/tc_\w+/g) ?? []));
      const command = /^more: patchboard (.*)$/m.exec(error)?.[1];
      more = command !== undefined;
      argv = command?.split(' ') ?? [];
    }
    expect(seen).toEqual(await selected(['calls', 'ls'], '.tool_calls[].tool_call_id'));
    expect(new Set(seen).size).toBe(4);
  });

  it('keeps the columns that the query, a filter or the order names on a narrow terminal', async () => {
    const shown = async (...argv: string[]): Promise<string> =>
      (await run(['calls', 'ls', 'state:completed', ...argv], 80)).out;
    expect(await shown()).not.toMatch(/WAITED|TOTAL|CREATED|RUN/);
    expect(await shown('waited<1m')).toContain('WAITED');
    expect(await shown('--sort', 'total')).toContain('TOTAL');
    expect(await shown('--since', '1h')).toContain('CREATED');
    expect(await shown('run:run-of-three')).toMatch(/RUN(.*\n)*.*run-of-three/);
  });

  it.each([40, 80, 120])('fits %i columns without cutting an id or a name', async (columns) => {
    const { out } = await run(['calls', 'ls', 'run:run-of-three'], columns);
    const ids = await selected(['calls', 'ls', 'run:run-of-three'], '.tool_calls[].tool_call_id');
    for (const id of ids) expect(out).toContain(id);
    expect(out).toContain('calculation.eval');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  });
});

describe('calls show', { timeout: LONG }, () => {
  it('shows the decision with its rule and why', async () => {
    const [id = ''] = await selected(['calls', 'ls', 'state:failed'], '.tool_calls[0].tool_call_id');
    expect((await run(['calls', 'show', id])).out).toMatch(
      /^decision +allow by annotations, policy version 0: \S/m,
    );
  });
});

describe('runs', { timeout: LONG }, () => {
  it('are listed with outcome and counts, and shown with their calls', async () => {
    const { out } = await run(['runs', 'ls', '--since', '1h']);
    expect(out).toMatch(/run-of-one +completed +1 +0 +0 +local/);
    expect(out).toMatch(/run-of-three +failed +3 +0 +1 +local/);
    const shown = await run(['runs', 'show', 'run-of-three'], 120);
    expect(shown.out).toMatch(/^run-of-three {2}failed\n/);
    expect(shown.out).toMatch(/calls +3, 0 open, 1 failed/);
    expect(shown.out.match(/calculation\.eval +(COMPLETED|FAILED).*█/g)).toHaveLength(3);
    const narrow = await run(['runs', 'show', 'run-of-three'], 40);
    expect(narrow.out).toMatch(/calculation\.eval\n {2}FAILED input_invalid .*\n {2}tc_\w{26}\n/);
  });

  it('whose calls wait for a client that is away are shown as waiting', async () => {
    const client = createClient({ url: place.environment['PATCHBOARD_URL'] ?? '', agentId: 'desk' });
    await client
      .provider('desk')
      .register([
        { name: 'desk.print', description: 'Prints', schema: { type: 'object' }, timeoutMs: 600_000 },
      ]);
    await client.invoke('desk.print', {}, { runId: 'run-that-waits' });
    expect((await run(['runs', 'ls', '--outcome', 'running'])).out).toMatch(
      /run-that-waits +waiting +1 +1 +0 +desk/,
    );
    const shown = await run(['runs', 'show', 'run-that-waits'], 120);
    expect(shown.out).toMatch(/^run-that-waits {2}waiting\n/);
    expect(shown.out).toMatch(/calls +1, 1 open \(0 running, 1 waiting\), 0 failed/);
    expect(await selected(['runs', 'ls', '--outcome', 'running'], '.runs[].outcome')).toEqual(['running']);
    expect(await selected(['calls', 'ls', 'client:desk state:waiting'], '.tool_calls[].run_id')).toEqual([
      'run-that-waits',
    ]);
    // The other tests list runs by outcome.
    await client.runs.cancel('run-that-waits');
  });

  it('are listed by outcome', async () => {
    const idsOf = (outcome: string): Promise<string[]> =>
      selected(['runs', 'ls', '--outcome', outcome], '.runs[].run_id');
    expect(await idsOf('failed')).toEqual(['run-of-three']);
    expect(await idsOf('completed')).toEqual(['run-of-one']);
    expect(await idsOf('running')).toEqual([]);
    const { code, error } = await run(['runs', 'ls', '--outcome', 'odd']);
    expect([code, error]).toEqual([2, expect.stringContaining('running, completed, failed')]);
  });

  it('have pages', async () => {
    const { out, error } = await run(['runs', 'ls', '--limit', '1', '--json']);
    const { runs, next_cursor: cursor } = JSON.parse(out) as { runs: RunView[]; next_cursor: string };
    expect([runs.length, error]).toEqual([1, '']);
    expect((await run(['runs', 'ls', '--limit', '1'])).error).toBe(
      `more: patchboard runs ls --limit 1 --cursor ${cursor}\n`,
    );
  });
});

describe('metrics', { timeout: LONG }, () => {
  it('count calls and refused requests by tool', async () => {
    const { out } = await run(['metrics', '--by', 'tool']);
    expect(out).toMatch(/calculation\.eval +4 +1 \(25 %\) +\d+ ms/);
    expect(out).toMatch(/nothing\.like_it +1 +1 \(100 %\)/);
    expect((await run(['metrics', 'state:failed'])).code).toBe(2);
  });
});

describe('calls tail', { timeout: LONG }, () => {
  it('starts with the events since a time', async () => {
    const tail = place.start(['calls', 'tail', '--since', '1h', '--json', '--select', '.data.tool_name?']);
    const out = await tail.says(/(.*\n){4}/);
    expect(out).toContain('calculation.eval\n');
    await tail.stop();
  });
});

describe('open', { timeout: LONG }, () => {
  it('prints the address of a call, a run, a trace or a page, with a login link', async () => {
    const url = place.environment['PATCHBOARD_URL'] ?? '';
    // A refused request makes no call.
    const headers = { 'content-type': 'application/json', 'x-trace-id': 'trace-of-refused' };
    await fetch(`${url}/v1/tools/nothing.like_it/invoke`, {
      method: 'POST',
      headers,
      body: '{"run_id":"r"}',
    });
    const [{ tool_call_id: id }] = (
      JSON.parse((await run(['calls', 'ls', '--json'])).out) as { tool_calls: [CallView] }
    ).tool_calls;
    for (const [target, path] of [
      [id, `/ui/calls/${id}`],
      ['run-of-one', '/ui/runs/run-of-one'],
      ['trace-of-refused', '/ui/traces/trace-of-refused'],
      ['approvals', '/ui/approvals'],
    ] as const) {
      const { out, error } = await run(['open', target]);
      expect(out).toMatch(new RegExp(`^${url}${path}#login=ot_\\S+\\n$`));
      expect(error).toBe('signs in as operator, once, within an hour\n');
    }
    const { out } = await runCli(['open'], { ...place.environment, PATCHBOARD_DATA: place.folder });
    expect(out).toBe(`${url}/ui/\n`);
  });
});
