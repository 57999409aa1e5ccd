import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../test/support/run-cli.ts';

describe('the commands for upstreams without a running server', () => {
  let folder: string;
  let data: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchboard-upstream-commands-'));
    data = join(folder, 'data');
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const place = {
    run: (argv: readonly string[], more: Record<string, string> = {}) =>
      runCli(argv, { PATCHBOARD_DATA: data, ...more }),
    json: async (argv: readonly string[]): Promise<unknown> =>
      JSON.parse((await place.run([...argv, '--json'])).out) as unknown,
    write: (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
  };
  const stored = (): unknown => JSON.parse(readFileSync(join(data, 'upstreams.json'), 'utf8')) as unknown;

  it('add a command with everything after --, and an HTTP API, and store absolute paths', async () => {
    const added = await place.run(
      'mcp add files --no-check --env MODE=fast --tools *,!delete_* --on-change run -- npx -y ./server --json'.split(
        ' ',
      ),
    );
    expect(added).toMatchObject({ code: 0, out: '' });
    expect(added.error).toContain('files is added to');
    expect(added.error).toContain('the next start connects it');
    const shop = await place.json(
      'openapi add shop shop.yaml --no-check --security key=SHOP_KEY --security basic=U:P --tenant acme'.split(
        ' ',
      ),
    );
    expect(shop).toEqual({
      name: 'shop',
      kind: 'openapi',
      file: join(data, 'upstreams.json'),
      server: null,
    });
    expect(stored()).toEqual({
      upstreams: {
        files: {
          command: 'npx',
          args: ['-y', './server', '--json'],
          env: { MODE: 'fast' },
          cwd: resolve('.'),
          on_change: 'run',
          tools: ['*', '!delete_*'],
        },
      },
      openapi: {
        shop: {
          description: resolve('shop.yaml'),
          security: { key: { value_env: 'SHOP_KEY' }, basic: { username_env: 'U', password_env: 'P' } },
          tenants: ['acme'],
        },
      },
    });
    expect(statSync(join(data, 'upstreams.json')).mode & 0o777).toBe(0o600);
  });

  it('leave the working directory of a sandboxed command to the server', async () => {
    await place.run('mcp add boxed --no-check --network --readable docs -- npx server'.split(' '));
    expect(stored()).toMatchObject({
      upstreams: { boxed: { sandbox: { network: true, readable: [resolve('docs')] } } },
    });
    expect(JSON.stringify(stored())).not.toMatch(/"boxed":[^}]*"cwd"/);
    expect((await place.run(['mcp', 'remove', 'boxed'])).code).toBe(0);
  });

  it('list them, without secrets', async () => {
    await place.run([
      'mcp',
      'add',
      'web',
      'https://a.example/mcp?api_key=planted-secret',
      '--no-check',
      '--header',
      'Authorization: Bearer planted-secret',
    ]);
    const { out, error } = await place.run(['mcp', 'list']);
    expect(out).toMatch(/^NAME +ADDRESS +DEFINED IN\nfiles +npx .*\nweb +https:\/\/a.example\/mcp .*\n$/);
    expect(out + error).not.toContain('planted-secret');
    expect(await place.json(['openapi', 'list'])).toMatchObject({ upstreams: [{ name: 'shop' }] });
  });

  it.each([
    ['mcp add files https://a.example', 'the name files is in use: it is in'],
    ['mcp add Files https://a.example', 'Files is not a name of an upstream'],
    ['mcp add one https://me:planted-secret@a.example', 'must not contain a user name or password'],
    ['mcp add one ftp://a.example', 'must be an http or https URL'],
    ['mcp add one https://a.example --cwd .', '--cwd is for commands, and this is a URL'],
    ['mcp add one --header planted-secret https://a.example', "--header needs 'NAME: VALUE'"],
    ['mcp add one https://a.example --concurrency 1000000', 'concurrency must be <= 999999'],
    ['mcp add one --header a:b -- npx', '--header is for URLs, and this is a command'],
    ['openapi add one a.yaml --security key=planted-secret', '--security needs the name of a variable'],
    ['mcp remove shop', 'shop is of the other kind: run patchboard openapi remove shop'],
    ['mcp import absent.json', 'cannot read absent.json: there is no such file or folder'],
  ])('%s is refused', async (command, message) => {
    const before = stored();
    const { code, out, error } = await place.run(command.split(' '));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(message);
    expect(error).not.toContain('planted-secret');
    expect(stored()).toEqual(before);
  });

  it('refuse a name of the config file', async () => {
    const config = place.write('patchboard.yaml', 'upstreams: { ours: { url: "https://a.example" } }\n');
    const given = { PATCHBOARD_CONFIG: config };
    for (const command of ['mcp add ours https://b.example', 'mcp remove ours'])
      expect((await place.run(command.split(' '), given)).error).toContain(
        `is defined in ${config}: edit it there`,
      );
  });

  it('import the file of a client, once, with secrets as variables', async () => {
    const file = place.write(
      'client.json',
      '{ "mcpServers": { // two\n "Git Hub": { "command": "npx", "env": { "TOKEN": "planted-secret" } }, "web": { "url": "https://a.example" }, } }',
    );
    const dry = await place.run(['mcp', 'import', file, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/git-hub +Git Hub +npx/) as string });
    expect(dry.error).toContain('nothing was changed');
    expect(dry.error).toContain('not imported: web: the name web is in use');
    const imported = await place.run(['mcp', 'import', file, '--env']);
    expect(imported.error).toContain(
      'Set these variables for the server before it starts: TOKEN\n1 added to',
    );
    expect(dry.out + dry.error + imported.out + imported.error).not.toContain('planted-secret');
    expect(stored()).toMatchObject({
      upstreams: { 'git-hub': { command: 'npx', env: { TOKEN: '${TOKEN}' } } },
    });
    const again = await place.run(['mcp', 'import', file]);
    expect(again).toMatchObject({ code: 2, out: '' });
    expect(again.error).toContain('nothing was imported from');
  });

  it('remove what they added, and name what there is', async () => {
    expect(await place.run(['mcp', 'remove', 'git-hub'])).toMatchObject({
      code: 0,
      out: 'git-hub removed\n',
    });
    const unknown = await place.run(['mcp', 'remove', 'fils']);
    expect(unknown.code).toBe(5);
    expect(unknown.error).toContain('→ it has files, web; did you mean files?');
  });
});
