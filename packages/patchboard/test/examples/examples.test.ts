import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../services/shared-postgres.ts';
import { pythonWithRequests } from '../support/python.ts';
import { runCommand, startCommand, type CommandOptions } from '../support/run-command.ts';
import { cleanEnvironment, ROOT, startServer, type ServerProcess } from '../support/server-process.ts';

const FOLDER = join(ROOT, 'examples');

describe('examples', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer();
  }, 60_000);

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  function options(more: Readonly<Record<string, string>> = {}): CommandOptions {
    return { cwd: ROOT, env: { ...cleanEnvironment(), PATCHBOARD_URL: server.url, ...more } };
  }

  it('agent-polling.py prints the result', async () => {
    const args = [join(FOLDER, 'agent-polling.py'), 'calculation.eval', '{"expression": "6*7"}'];
    const { code, out, error } = await runCommand(pythonWithRequests(), args, options());
    expect(code, error).toBe(0);
    expect(JSON.parse(out)).toEqual({ value: 42 });
  });

  it.each([
    ['calculation.eval', '{"expression": "1/0"}', 'FAILED: division by zero'],
    ['no.such.tool', '{}', 'refused: tool not found'],
  ])('agent-polling.py exits non-zero when %s does not do it', async (tool, args, words) => {
    const command = [join(FOLDER, 'agent-polling.py'), tool, args];
    const { code, error } = await runCommand(pythonWithRequests(), command, options());
    expect(code).not.toBe(0);
    expect(error).toContain(words);
  });

  it('agent.ts tells its story', async () => {
    const { code, out, error } = await runCommand(process.execPath, [join(FOLDER, 'agent.ts')], options());
    expect(code, error).toBe(0);
    expect(out).toMatch(/I may call .*calculation\.eval, .*\n\d+: PENDING\n\d+: EXECUTING\n\d+: COMPLETED\n/);
    expect(out).toContain('with tax: 1428\nFAILED: division by zero at position 6\n');
    expect(out).toMatch(/calculation\.eval FAILED \d+ ms\ncalculation\.eval SUCCEEDED \d+ ms\n$/);
  });

  it('embed.ts runs a tool without a server', async () => {
    const { code, out, error } = await runCommand(process.execPath, [join(FOLDER, 'embed.ts')], options());
    expect(code, error).toBe(0);
    expect(out).toBe('COMPLETED { sum: 3 }\nPENDING → EXECUTING → COMPLETED\n');
  });

  it('postgres.ts finds the call of an earlier board', async () => {
    const { url } = await sharedPostgres(15);
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'postgres.ts')],
      options({ DATABASE_URL: url }),
    );
    expect(code, error).toBe(0);
    expect(out).toBe('COMPLETED { sum: 3 }\nCOMPLETED { sum: 3 }\n');
  });

  it('picture.ts returns a picture, named in text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchboard-picture-'));
    const file = join(folder, 'chart.png');
    const command = [join(FOLDER, 'picture.ts'), file];
    const { code, out, error } = await runCommand(process.execPath, command, options());
    expect(code, error).toBe(0);
    expect(out).toMatch(/^A chart of 5 bars\.\n\[image\/png, \d+ B\]\n\{"width":160,"highest":100\}\n$/);
    const png = readFileSync(file);
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([160, 100]);
    rmSync(folder, { recursive: true });
  });

  it('hooks.ts asks, denies, masks, cuts and caches', async () => {
    const { code, out, error } = await runCommand(process.execPath, [join(FOLDER, 'hooks.ts')], options());
    expect(code, error).toBe(0);
    const read = `notes.txt, read 1 times. password=*** ${'x'.repeat(22)}… (cut)`;
    expect(out.split('\n')).toEqual([
      read,
      `${read} (2 states: it was not run again)`,
      'permission denied: secrets stay here',
      'APPROVAL_REQUIRED',
      'DENIED not on my machine',
      'ran ls',
      '',
    ]);
  });

  it('embedded-agent.ts talks to models over the wires of two vendors', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'embedded-agent.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    // Calls of one reply run beside each other, in no order.
    const beside = (name: string): string[] => [
      `${name} calls math.add { a: 1, b: 2 }`,
      `${name} calls math.add { a: 3, b: 4 }`,
      `${name} gets { sum: 3 }`,
      `${name} gets { sum: 7 }`,
    ];
    const after = (name: string): string[] => [
      `${name} calls math__divide {}`,
      `${name} gets tool not found: math__divide`,
      `${name} says: It is 3 and 7. (done, 3 calls)`,
    ];
    const lines = out.trim().split('\n');
    expect(lines.slice(0, 4).toSorted()).toEqual(beside('openai'));
    expect(lines.slice(4, 7)).toEqual(after('openai'));
    expect(lines.slice(7, 11).toSorted()).toEqual(beside('anthropic'));
    expect(lines.slice(11)).toEqual(after('anthropic'));
  });

  it('asking-back.ts asks its callers, and fails for one that cannot respond', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'asking-back.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    expect(out.trim().split('\n')).toEqual([
      'COMPLETED 3 days in Paris',
      'FAILED input_declined',
      'FAILED input_unavailable',
      'trip.book asks: Book it for 300 euros?',
      'COMPLETED booked for 300 euros',
      'Your trip is booked.',
    ]);
  });

  it('approvals.ts asks, and does what it was allowed', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'approvals.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    const lines = out.trim().split('\n');
    expect(lines.slice(0, 2).toSorted()).toEqual([
      'ann says deny: keep the notes',
      'operator says allow: nobody needs it',
    ]);
    expect(lines.slice(2)).toEqual([
      'files.read notes.txt: COMPLETED, files.read notes.txt',
      'files.delete notes.txt: DENIED, Permission denied by user',
      'files.delete old.txt: COMPLETED, files.delete old.txt',
      'files.send notes.txt: DENIED, permission denied: the pattern files.send matches the tool',
      'I have tidied up, as far as I was allowed.',
    ]);
  });

  it('resume.ts goes on after it was killed, and does nothing twice', async () => {
    const { code, out, error } = await runCommand(process.execPath, [join(FOLDER, 'resume.ts')], options());
    expect(code, error).toBe(0);
    expect(out.match(/the lights go out/g)).toHaveLength(1);
    expect(out).toContain("outcome: 'unknown'");
    expect(out).toContain('I do not know whether the money was sent.');
  });

  it('input-http.ts is asked, and responds once with what fits', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'input-http.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    expect(out.split('\n')).toEqual([
      '202 INPUT_REQUIRED Which city?',
      'a number: 422',
      'a city: 200',
      'once more: 409',
      'COMPLETED 3 days in Paris',
      'cannot: input_unavailable',
      '',
    ]);
  });

  it('input-client.ts is asked, and responds, declines or says that it cannot', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'input-client.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    expect(out.split('\n')).toEqual([
      'Pay 12 € from which account?',
      'Confirm at your bank: https://bank.example/confirm',
      'COMPLETED paid 12 € from main',
      'PENDING → EXECUTING → INPUT_REQUIRED → EXECUTING → INPUT_REQUIRED → EXECUTING → COMPLETED',
      'Pay 1000000 € from which account?',
      'FAILED input_declined',
      'FAILED input_unavailable',
      'paid 3 € from savings',
      '',
    ]);
  });

  it('mend-a-test.ts mends it, enclosed', async () => {
    const { code, out, error } = await runCommand(
      process.execPath,
      [join(FOLDER, 'mend-a-test.ts')],
      options(),
    );
    expect(code, error).toBe(0);
    expect(out).toMatch(
      /^bash_run exit 1 enclosed\nfs_read {2}enclosed\nfs_edit {2}enclosed\n--- a\/sum\.mjs\n/,
    );
    expect(out).toMatch(/bash_run exit 0 enclosed\nThe test passes now\.\n$/);
  });

  it('agent.ts exits non-zero without a server', async () => {
    const away = options({ PATCHBOARD_URL: 'http://127.0.0.1:9' });
    const { code } = await runCommand(process.execPath, [join(FOLDER, 'agent.ts')], away);
    expect(code).not.toBe(0);
  });

  it('lend-a-tool.ts runs calls and leaves', async () => {
    const lender = startCommand(process.execPath, [join(FOLDER, 'lend-a-tool.ts')], options({ CALLS: '2' }));
    await lender.says(/^lending text\.slug/);
    const agent = createClient({ url: server.url });
    const { result } = await agent.call('text.slug', { title: 'Ein Döner, bitte!' });
    expect(result).toEqual({ slug: 'ein-doner-bitte' });
    const refused = await agent.call('text.slug', { title: '!?' }, { throwOnFailure: false });
    expect(refused).toMatchObject({
      state: 'FAILED',
      error: { message: 'the title has no letter and no digit' },
    });
    expect(await lender.finished).toMatchObject({ code: 0 });
    expect((await agent.tools()).map(({ name }) => name)).not.toContain('text.slug');
  });

  it.each([
    ['device-that-asks.ts', "Which camera?\n{ picture: 'back-high.jpg' }\n"],
    ['lend-a-tool-that-asks.ts', 'The last train leaves in 5 minutes. Book it?\n{ given: { book: true } }\n'],
  ])('%s asks its caller and gets the response', async (file, expected) => {
    const { code, out, error } = await runCommand(process.execPath, [join(FOLDER, file)], options());
    expect(code, error).toBe(0);
    expect(out).toBe(expected);
  });

  it('lend-a-tool.sh runs calls and leaves', async () => {
    const lender = startCommand('bash', [join(FOLDER, 'lend-a-tool.sh')], options({ CALLS: '1' }));
    await lender.says(/^lending clock\.utc/);
    const agent = createClient({ url: server.url });
    const { result } = await agent.call('clock.utc');
    expect(result).toEqual({ utc: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/) as unknown });
    expect(await lender.finished).toMatchObject({ code: 0 });
    expect((await agent.tools()).map(({ name }) => name)).not.toContain('clock.utc');
  });

  it('lend-a-tool.sh exits non-zero when its tool is not taken', async () => {
    const owner = createClient({ url: server.url }).provider('somebody-else');
    await owner.register([{ name: 'clock.utc', schema: true }]);
    const { code, error } = await runCommand('bash', [join(FOLDER, 'lend-a-tool.sh')], options());
    await owner.unregister();
    expect(code).toBe(1);
    expect(error).toContain('rejected:');
  });

  it('are all listed, and none is longer than a screen', () => {
    const listed = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    for (const name of readdirSync(FOLDER).filter((file) => file !== 'README.md')) {
      expect(listed).toContain(`(${name})`);
      const path = join(FOLDER, name);
      const files = statSync(path).isDirectory() ? readdirSync(path).map((file) => join(path, file)) : [path];
      for (const file of files) {
        expect(readFileSync(file, 'utf8').split('\n').length, file).toBeLessThan(60);
      }
    }
  });
});
