import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('./format.ts', import.meta.url).href;

/** What `sinceWords` returns in a browser of this time zone. */
async function wordsIn(zone: string, since: string): Promise<string> {
  const code = `
    const { sinceWords } = await import('${MODULE}');
    process.stdout.write(sinceWords('${since}', 'en'));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=patchboard-source', '--input-type=module', '--eval', code],
    { env: { ...process.env, TZ: zone } },
  );
  return stdout;
}

it('sinceWords has the time of the user for a text of UTC, which a query takes a time without a zone for', async () => {
  for (const since of ['2026-11-18T15:04', '2026-11-18T15:04:00Z', '2026-11-18T16:04:00+01:00'])
    expect(await wordsIn('Asia/Shanghai', since)).toBe('≥ 11/18, 23:04:00');
});
