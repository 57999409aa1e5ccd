import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { ROOT } from '../support/server-process.ts';
import { aPlatform } from './support/a-platform.ts';
import { requestTo, UNKNOWN } from './support/route-samples.ts';

/** All other code cannot start a process. */
const MAY_START_PROCESSES = [
  // The editor that the user of `patchboard inbox` chose.
  'cli/inbox/editor.ts',
  // The browser of the user of `patchboard open`.
  'cli/open-browser.ts',
  // The command of a profile of the user, which prints a secret.
  'cli/profiles/profile-secret.ts',
  // Our own program that runs one query.
  'packs/essentials/database/query-process.ts',
  // What is enclosed: our own file server, and the command of `bash_run` as one argument of bash.
  'sandbox/canary.ts',
  'sandbox/enclosed-process.ts',
  // ripgrep, with patterns behind their option.
  'sandbox/file-server/search.ts',
  // The command of an upstream MCP server, which the configuration names.
  'sources/mcp/stdio-transport.ts',
];

const started: string[] = [];
const note = (message: unknown): void => {
  const { process } = message as { process: { spawnargs?: readonly string[] } };
  // The arguments are known once the process is being started, which is after it was made.
  queueMicrotask(() => started.push(process.spawnargs?.join(' ') ?? 'a process'));
};
afterEach(() => unsubscribe('child_process', note));

/** What configuration formats of the field call a program and what belongs to it. */
const COMMAND = {
  command: '/bin/touch',
  args: ['spawned'],
  env: { PATH: '/bin' },
  cwd: '/',
  exec: '/bin/touch spawned',
  shell: true,
  mcpServers: { evil: { command: '/bin/touch', args: ['spawned'] } },
  hooks: ['/bin/touch'],
  packs: ['/bin/touch'],
  transport: { type: 'stdio', command: '/bin/touch' },
};

/** The command beside what the route wants, and in each object inside it. */
function withCommand(body: unknown): unknown[] {
  if (typeof body !== 'object' || body === null) return [COMMAND];
  const within = Object.entries(body).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? [{ ...body, [key]: { ...inner, ...COMMAND } }]
      : [],
  );
  return [{ ...COMMAND, ...body }, ...within];
}

describe('no route', () => {
  it('starts a process that its request names, with any credential', async () => {
    const server = await aPlatform();
    const key = await server.mint({ kind: 'operator', name: 'olga' });
    subscribe('child_process', note);
    const operator = { authorization: `Bearer ${server.operatorToken}` };
    let asked = 0;
    for (const route of ROUTES.filter(({ method }) => method !== 'GET')) {
      const request = requestTo(route, UNKNOWN);
      for (const body of withCommand(request.body))
        for (const headers of [operator, key.headers]) {
          const response = await server.ask({
            ...request,
            headers: { ...request.headers, ...headers },
            body,
          });
          expect(response.status, `${route.name} ${response.text}`).toBeLessThan(500);
          asked += 1;
        }
    }
    await server.close();
    expect(asked).toBeGreaterThan(60);
    // That it would have been noticed is shown by the one that the test starts itself.
    await once(spawn(process.execPath, ['--version']), 'close');
    expect(started).toEqual([`${process.execPath} --version`]);
  });

  it('imports the code that can start one', () => {
    const source = join(ROOT, 'packages', 'patchboard', 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    const starters = files.filter((file) =>
      readFileSync(join(source, file), 'utf8').includes('node:child_process'),
    );
    expect(starters.toSorted()).toEqual(MAY_START_PROCESSES.toSorted());
  });
});
