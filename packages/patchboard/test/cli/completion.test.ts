import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanEnvironment, CLI } from '../support/server-process.ts';
import { runCommand } from '../support/run-command.ts';
import { LONG, NOWHERE, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;
let script: string;

beforeAll(async () => {
  place = await Workplace.create();
  place.environment['XDG_CONFIG_HOME'] = join(place.folder, 'config');
  stop = await place.serve();
  await place.run(['profile', 'add', 'prod', '--url', 'https://prod.example']);
  script = await place.write('patchboard.bash', (await place.run(['completion', 'bash'])).out);
  await place.write('a reply.txt', '');
  await mkdir(join(place.folder, 'bin'));
  const program = join(place.folder, 'bin', 'patchboard');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  await chmod(program, 0o755);
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

/** Presses Tab at the end of each line in one bash, and returns what it offers. */
async function offers(lines: readonly string[], more: Record<string, string> = {}): Promise<string[][]> {
  const presses = lines.map((line) => {
    const words = `patchboard ${line}`.split(' ');
    const quoted = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _patchboard; (IFS='|'; echo "\${COMPREPLY[*]}")`;
  });
  const env = { ...cleanEnvironment(), ...place.environment, ...more };
  const PATH = `${join(place.folder, 'bin')}:${process.env['PATH']}`;
  const command = `set -u; source '${script}'; ${presses.join('; ')}`;
  const { code, out, error } = await runCommand('bash', ['--norc', '-c', command], {
    cwd: place.folder,
    env: { ...env, PATH },
  });
  expect([code, error]).toEqual([0, '']);
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('|').filter((word) => word !== ''));
}

describe('completion in bash', { timeout: LONG }, () => {
  it('offers commands, options and closed values, where they are allowed', async () => {
    const [commands, group, options, value, equals, afterValue, args, ended, unknown] = await offers([
      'ca',
      'calls ',
      'calls ls --s',
      'keys create --kind ',
      'calls ls --sort = c',
      'calls --tool x --or',
      'open app',
      'mcp add x -- --y',
      'nonsense ',
    ]);
    expect(commands).toEqual(['call', 'calls']);
    expect(group).toEqual(['ls', 'tail', 'show', 'cancel', 'replay']);
    expect(options).toEqual(['--select', '--sort', '--status', '--state', '--since']);
    expect(value).toEqual(['agent', 'client', 'service', 'operator']);
    expect(equals).toEqual(['created']);
    expect(afterValue).toEqual(['--order']);
    expect(args).toEqual(['approvals']);
    expect(ended).toEqual([]);
    expect(unknown).toEqual([]);
  });

  it('offers tools of the server, profiles and files', async () => {
    const lines = [
      'call calc',
      'policy explain calc',
      'calls ls --tool calc',
      'tools ls --profile ',
      'parse patch',
      'parse a',
    ];
    expect(await offers(lines)).toEqual([
      ['calculation.eval'],
      ['calculation.eval'],
      ['calculation.eval'],
      ['prod'],
      ['patchboard.bash'],
      ['a reply.txt'],
    ]);
  });

  it('offers tools of the server that the line names', async () => {
    const url = place.environment['PATCHBOARD_URL'] ?? '';
    await place.run(['profile', 'add', 'here', '--url', url]);
    // As Readline splits an address.
    const split = `tools show --url ${url.replaceAll(':', ' : ')} calc`;
    const lines = ['call --profile here calc', `policy explain --url ${url} calc`, split, 'call calc'];
    expect(await offers(lines, { PATCHBOARD_URL: NOWHERE })).toEqual([
      ['calculation.eval'],
      ['calculation.eval'],
      ['calculation.eval'],
      [],
    ]);
  });

  it('runs nothing that stands in a name, whatever server it comes from', async () => {
    const tool = (name: string) => ({ name, source: 'server', description: '', schema: {}, timeout_ms: 1 });
    const tools = ['$(touch ran)', '`touch ran`', 'plain.tool', 'a b'].map(tool);
    const server = createServer((_request, response) => response.end(JSON.stringify({ tools })));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const hostile = { PATCHBOARD_URL: `http://127.0.0.1:${port}` };
    expect(await offers(['call '], hostile)).toEqual([['plain.tool']]);
    server.close();

    // Nor the script itself.
    const fake = "patchboard() { printf '%s\\n' '$(touch ran)'; }";
    const press = 'COMP_WORDS=(patchboard call ""); COMP_CWORD=2; _patchboard; echo "${COMPREPLY[*]}"';
    const command = `${fake}; source '${script}'; ${press}`;
    const options = { cwd: place.folder, env: cleanEnvironment() };
    expect((await runCommand('bash', ['--norc', '-c', command], options)).out).toBe('$(touch ran)\n');
    expect(existsSync(join(place.folder, 'ran'))).toBe(false);
  });

  it('offers nothing, and prints nothing, without a server', async () => {
    expect(await offers(['call '], { PATCHBOARD_URL: NOWHERE })).toEqual([[]]);
    expect(await place.run(['completion', 'values', 'tools'], { PATCHBOARD_URL: NOWHERE })).toEqual({
      code: 0,
      out: '',
      error: '',
    });
  });
});
