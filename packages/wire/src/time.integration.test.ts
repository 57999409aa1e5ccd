import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('./time.ts', import.meta.url).href;
const NOON = Date.UTC(2026, 6, 1, 12);

/** What `parseTime` returns in a process of this time zone. */
async function parsedIn(zone: string, texts: readonly string[]): Promise<unknown> {
  const code = `
    const { parseTime } = await import('${MODULE}');
    process.stdout.write(JSON.stringify(${JSON.stringify(texts)}.map(parseTime)));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
    env: { ...process.env, TZ: zone },
  });
  return JSON.parse(stdout);
}

it.each(['UTC', 'Asia/Shanghai', 'America/New_York'])(
  'parseTime takes a text for the same time wherever the server runs: %s',
  async (zone) => {
    const texts = ['2026-07-01T12:00', '2026-07-01T12:00:00.000', '2026-07-01 12:00:00', '2026-07-01t12:00z'];
    expect(await parsedIn(zone, [...texts, '2026-07-01T14:00:00+02:00'])).toEqual(
      Array.from({ length: 5 }, () => NOON),
    );
    expect(await parsedIn(zone, ['2026-07-01', '1782907200', '2026-07-01T', 'noon'])).toEqual([
      Date.UTC(2026, 6, 1),
      NOON,
      null,
      null,
    ]);
    // `Date.parse` takes the first three for the local time of the machine, and the last for 2 March.
    const loose = ['2026-07-01 12:00 PM', '2026-07-01  12:00', '2026-07-01 July', '2026-02-30T12:00'];
    expect(await parsedIn(zone, loose)).toEqual(loose.map(() => null));
  },
);
