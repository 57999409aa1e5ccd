import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { table, type Row } from './report.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('npm run interop', () => {
  it('lists the clients if an unknown one is requested', () => {
    const args = ['--conditions=patchboard-source', MAIN, 'netscape'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toContain(
      'no such client: netscape; there are conformance, ai-sdk, ext-tasks, inspector,',
    );
  });

  it('prints one line for each run, and what went wrong below', () => {
    const run: Row = { client: 'mcp-remote 1.0.0', era: 'legacy', transport: 'http', does: 'list, call' };
    expect(table([run, { ...run, era: 'modern', problem: 'no such tool' }])).toBe(
      [
        'client            era     over  result  what was done',
        'mcp-remote 1.0.0  legacy  http  passed  list, call',
        'mcp-remote 1.0.0  modern  http  FAILED  list, call',
        '',
        'mcp-remote 1.0.0, modern, http:',
        'no such tool',
        '',
        '2 runs, 1 failed',
      ].join('\n'),
    );
  });
});
