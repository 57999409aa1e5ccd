import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;
beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve();
}, LONG);
afterAll(async () => {
  await stop();
  await place.remove();
});

describe('patchboard login', { timeout: LONG }, () => {
  it('prints a link for a server that runs without a terminal, and the link signs in once', async () => {
    const url = place.environment['PATCHBOARD_URL'] ?? '';
    const { code, out, error } = await place.run(['login']);
    expect([code, error]).toEqual([0, 'valid once, for 60 minutes\n']);
    const token = out.slice(`${url}/#login=`.length).trim();
    expect(out).toBe(`${url}/#login=${token}\n`);
    const open = async (): Promise<number> => {
      const body = JSON.stringify({ token });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}/v1/session`, { method: 'POST', headers, body })).status;
    };
    expect([await open(), await open()]).toEqual([200, 401]);
    const json = await place.json<{ url: string; expires_in_s: number }>(['login']);
    expect(json).toEqual({ url: expect.stringContaining(`${url}/#login=ot_`) as string, expires_in_s: 3600 });
  });

  it('says what is missing: the token, or the server', async () => {
    const elsewhere = await place.run(['login'], { PATCHBOARD_DATA: place.folder });
    expect(elsewhere.code).toBe(3);
    expect(elsewhere.error).toContain("set PATCHBOARD_DATA to the server's data folder");
    const { code, error } = await place.run(['login', '--url', 'http://127.0.0.1:9']);
    expect(code).toBe(6);
    expect(error).toContain('Is the server running?');
  });
});
