import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
beforeAll(async () => {
  place = await Workplace.create();
});
afterAll(() => place.remove());

describe('patchboard serve at a terminal', { timeout: LONG }, () => {
  it('shows a command that reaches it at whatever port it has', async () => {
    const { transcript, failed } = await place.terminal([['Stop with', 'SIGTERM']], ['serve', '--port', '0']);
    expect(failed).toBeNull();
    const url = /ready at (\S+)/.exec(transcript)?.[1] ?? '';
    const shown = /npx patchboard (call .*)/.exec(transcript)?.[1]?.trim() ?? '';
    expect(shown).toContain(`--url ${url}`);
    const stop = await place.serve();
    try {
      const typed = shown.replace(url, place.environment['PATCHBOARD_URL'] ?? '').replaceAll("'", '');
      const { out, error } = await place.run(typed.split(' '), { PATCHBOARD_URL: 'http://127.0.0.1:9' });
      expect([out, error]).toEqual(['42\n', '']);
    } finally {
      await stop();
    }
  });
});
