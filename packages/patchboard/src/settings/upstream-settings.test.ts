import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamsSettings } from './read-upstreams.ts';
import { resolveSettings, type Settings } from './settings.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-upstreams-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function settings(text: string, environment: Record<string, string> = {}, file: unknown = {}): Settings {
  const config = join(folder, 'patchboard.yaml');
  writeFileSync(config, text);
  const added = join(folder, 'upstreams.json');
  writeFileSync(added, JSON.stringify(file));
  chmodSync(added, 0o600);
  return resolveSettings(environment, { config, data: folder });
}

function upstreams(
  text: string,
  environment: Record<string, string> = {},
  file: unknown = {},
): UpstreamsSettings {
  return settings(text, environment, file).upstreams;
}

describe('upstreams in the settings', () => {
  it('are none without a config', () => {
    expect(upstreams('')).toEqual({ mcp: [], openapi: [], secretValues: [] });
  });

  it('have the defaults', () => {
    expect(
      upstreams('upstreams: { one: { url: "https://one.example/mcp" }, two: { command: npx } }').mcp,
    ).toEqual([
      {
        kind: 'mcp',
        name: 'one',
        tenants: null,
        onChange: 'ask',
        concurrency: 8,
        timeoutMs: 60_000,
        transport: { kind: 'http', url: 'https://one.example/mcp', headers: {}, auth: null },
        tools: ['*'],
        protocol: 'auto',
        hints: 'believe',
        inputRequests: true,
        sampling: false,
      },
      expect.objectContaining({
        name: 'two',
        transport: { kind: 'stdio', command: 'npx', args: [], env: {}, cwd: null, sandbox: null },
      }),
    ]);
  });

  it('are read with every member', () => {
    const { mcp } = upstreams(
      `
upstreams:
  files:
    command: ./bin/server
    args: [--root, docs]
    env: { MODE: fast }
    cwd: work
    tools: ["*", "!delete_*"]
    tenants: [acme]
    timeout_ms: 5
    concurrency: 2
    protocol: legacy
    on_change: refuse
    hints: ignore
    input_requests: false
    sampling: true
    sandbox: { network: true, readable: [docs, /srv/docs] }
`,
    );
    expect(mcp).toEqual([
      {
        kind: 'mcp',
        name: 'files',
        tenants: ['acme'],
        onChange: 'refuse',
        concurrency: 2,
        timeoutMs: 5,
        transport: {
          kind: 'stdio',
          command: join(folder, 'bin/server'),
          args: ['--root', 'docs'],
          env: { MODE: 'fast' },
          cwd: join(folder, 'work'),
          sandbox: { network: true, readable: [join(folder, 'docs'), '/srv/docs'] },
        },
        tools: ['*', '!delete_*'],
        protocol: 'legacy',
        hints: 'ignore',
        inputRequests: false,
        sampling: true,
      },
    ]);
  });

  it('have variables filled in, and collect secret values', () => {
    const { mcp, secretValues } = upstreams(
      `
upstreams:
  web:
    url: https://\${HOST_NAME}/mcp?api_key=in-the-address
    headers: { Authorization: "Bearer \${TOKEN}", X-Api-Key: literal-key, X-Team: a, X-Price: "$\${5}" }
  child:
    command: npx
    args: ["\${HOME}/docs", --access-token, after-the-flag, --secret=with-the-flag, --verbose]
    env: { GITHUB_TOKEN: literal-token, MODE: fast }
`,
      { TOKEN: 'from-the-environment', HOST_NAME: 'one.example', HOME: '/home/me' },
    );
    expect(mcp.map(({ transport }) => transport)).toEqual([
      {
        kind: 'http',
        url: 'https://one.example/mcp?api_key=in-the-address',
        headers: {
          Authorization: 'Bearer from-the-environment',
          'X-Api-Key': 'literal-key',
          'X-Team': 'a',
          'X-Price': '${5}',
        },
        auth: null,
      },
      expect.objectContaining({
        args: ['/home/me/docs', '--access-token', 'after-the-flag', '--secret=with-the-flag', '--verbose'],
      }),
    ]);
    expect([...secretValues].sort()).toEqual(
      [
        'one.example',
        'in-the-address',
        'from-the-environment',
        'Bearer from-the-environment',
        'literal-key',
        'after-the-flag',
        'with-the-flag',
        'literal-token',
      ].sort(),
    );
  });

  it('get their own tokens with client credentials or a private key', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(join(folder, 'key.pem'), sec1);
    const { mcp, secretValues } = upstreams(
      `
upstreams:
  a:
    url: https://a.example
    auth: { client_credentials: { client_id: pb, secret_env: SECRET, scope: repo, token_url: "https://t.example/token" } }
  b: { url: "https://b.example", auth: { private_key_jwt: { client_id: pb, key_file: key.pem } } }
  c: { url: "https://c.example", auth: { private_key_jwt: { client_id: pb, key_env: KEY, algorithm: ES256 } } }
`,
      { SECRET: 'the-secret', KEY: pkcs8.replaceAll('\n', String.raw`\n`) },
    );
    const key = {
      kind: 'private_key_jwt',
      clientId: 'pb',
      scope: null,
      tokenUrl: null,
      privateKey: pkcs8,
      algorithm: 'ES256',
      audience: null,
    };
    expect(mcp.map(({ transport }) => transport)).toEqual([
      expect.objectContaining({
        auth: {
          kind: 'client_credentials',
          clientId: 'pb',
          clientSecret: 'the-secret',
          scope: 'repo',
          tokenUrl: 'https://t.example/token',
        },
      }),
      expect.objectContaining({ auth: key }),
      expect.objectContaining({ auth: key }),
    ]);
    expect(secretValues).toEqual(expect.arrayContaining(['the-secret', sec1, pkcs8.trim()]));
  });

  it('are read again without the other settings', () => {
    const first = settings('', {}, { upstreams: { one: { url: 'http://one.example' } } });
    const file = join(folder, 'upstreams.json');
    writeFileSync(file, '{"upstreams": {"two": {"url": "http://two.example"}}}');
    expect(first.upstreams.mcp.map(({ name }) => name)).toEqual(['one']);
    expect(first.readUpstreams().mcp.map(({ name }) => name)).toEqual(['two']);
  });

  it('may be named by settings of tools, also those of the data folder', () => {
    const text = `
upstreams: { github: { url: "https://one.example" } }
tools: { github.search: { timeout_ms: 5, cache_ttl_ms: 6 }, added.search: { timeout_ms: 7 } }
`;
    const file = { openapi: { added: { description: 'https://two.example/openapi.json' } } };
    expect([...settings(text, {}, file).toolTimeoutsMs]).toEqual([
      ['github.search', 5],
      ['added.search', 7],
    ]);
    expect(() => settings(text)).toThrow(/:3: tools.added.search.timeout_ms is for tools of this server/);
  });

  it.each([
    ['upstreams: { one: { urll: a } }', ':1: unknown key upstreams.one.urll; did you mean url?'],
    ['upstreams: { one: { command: a, tenants: ["a b"] } }', 'upstreams.one.tenants.0 must match pattern'],
    ['upstreams: { one: {} }', ':1: upstreams.one needs exactly one of url and command'],
    [
      'upstreams: { one: { url: "http://a", command: b } }',
      'upstreams.one needs exactly one of url and command',
    ],
    [
      'upstreams:\n  GitHub: { command: b }',
      ':2: upstreams.GitHub is not a name of an upstream: 1 to 24 characters',
    ],
    ['upstreams: { patchboard: { command: b } }', 'upstreams.patchboard is a reserved name'],
    ['upstreams: { one: { command: b, headers: {} } }', 'upstreams.one.headers is for upstreams with url'],
    ['upstreams: { one: { url: "http://a", args: [] } }', 'upstreams.one.args is for upstreams with command'],
    ['upstreams: { one: { url: "ftp://a" } }', ':1: upstreams.one.url: must be an http or https URL'],
    [
      'upstreams: { one: { url: "http://me:secret@a" } }',
      'upstreams.one.url: must not contain a user name or password',
    ],
    [
      'upstreams: { one: { url: "http://a", on_change: no } }',
      'upstreams.one.on_change must be one of "ask", "run", "refuse"',
    ],
    [
      'upstreams: { one: { url: "http://a", headers: { "a b": c } } }',
      'upstreams.one.headers.a b: is not a valid HTTP header',
    ],
    [
      'upstreams:\n  one:\n    url: http://a\n    headers: { X: "${ABSENT}" }',
      ':4: upstreams.one.headers.X: the variable ABSENT is not set',
    ],
    [
      'upstreams: { one: { command: a, args: [b, "${EMPTY}"] } }',
      'upstreams.one.args.1: the variable EMPTY is not set',
    ],
    [
      'upstreams: { one: { command: a, args: ["${input:x}"] } }',
      '${input:x} is not a variable; write ${NAME}, or $${',
    ],
    [
      'upstreams: { one: { url: "http://a", auth: { } } }',
      'upstreams.one.auth needs exactly one of client_credentials and private_key_jwt',
    ],
    [
      'upstreams: { one: { url: "http://a", auth: { client_credentials: { client_id: a, secret_env: ABSENT } } } }',
      'upstreams.one.auth.client_credentials.secret_env: the variable ABSENT is not set',
    ],
    [
      'upstreams: { one: { url: "http://a", auth: { private_key_jwt: { client_id: a } } } }',
      'upstreams.one.auth.private_key_jwt needs exactly one of key_env and key_file',
    ],
    [
      'upstreams: { one: { url: "http://a", auth: { private_key_jwt: { client_id: a, key_file: none.pem } } } }',
      'none.pem: there is no such file or folder',
    ],
    [
      'upstreams: { one: { url: "http://a", auth: { private_key_jwt: { client_id: a, key_env: SECRET } } } }',
      'auth.private_key_jwt.key_env: must hold a private key in PEM',
    ],
    [
      'upstreams: { one: { url: "http://a", headers: { authorization: b }, auth: { client_credentials: { client_id: a, secret_env: SECRET } } } }',
      'upstreams.one.headers.authorization cannot be set together with auth',
    ],
    [
      'upstreams: { one: { command: a } }\nopenapi: { one: { description: b } }',
      ':2: openapi.one has the name of an upstream in upstreams',
    ],
  ])('%s is refused', (text, message) => {
    const environment = { SECRET: 'the-secret-value', EMPTY: '' };
    expect(() => settings(text, environment)).toThrow(message);
    expect(() => settings(text, environment)).toThrow(
      expect.not.stringMatching(/the-secret-value|me:secret/),
    );
  });

  it('are refused if the config file and the data folder have the same name', () => {
    const text = 'http: {}\nopenapi: { one: { description: a.yaml } }';
    expect(() => settings(text, {}, { upstreams: { one: { command: 'a' } } })).toThrow(
      `the upstream one is defined twice, in ${folder}/patchboard.yaml:2 (openapi.one) and in ${folder}/upstreams.json:1 (upstreams.one)`,
    );
  });
});

describe('HTTP APIs in the settings', () => {
  it('are read with every member', () => {
    const { openapi, secretValues } = upstreams(
      `
openapi:
  shop:
    description: ./shop.yaml
    server: https://api.shop.example
    headers: { X-Team: a }
    tools: ["*", "!delete*"]
    tenants: [acme]
    timeout_ms: 5
    concurrency: 2
    on_change: run
    security:
      key: { value_env: SHOP_KEY }
      bearer: { value: "\${SHOP_TOKEN}" }
      basic: { username: me, password_env: PASSWORD }
      oauth: { client_credentials: { client_id: pb, secret_env: SECRET } }
  plain: { description: "https://two.example/openapi.json" }
`,
      { SHOP_KEY: 'shop-key', SHOP_TOKEN: 'shop-token', PASSWORD: 'the-password', SECRET: 'the-secret' },
    );
    const oauth = {
      kind: 'client_credentials',
      clientId: 'pb',
      clientSecret: 'the-secret',
      scope: null,
      tokenUrl: null,
    };
    expect(openapi).toEqual([
      {
        kind: 'openapi',
        name: 'shop',
        tenants: ['acme'],
        onChange: 'run',
        concurrency: 2,
        timeoutMs: 5,
        description: { kind: 'file', path: join(folder, 'shop.yaml') },
        server: 'https://api.shop.example',
        headers: { 'X-Team': 'a' },
        tools: ['*', '!delete*'],
        security: {
          key: { kind: 'value', value: 'shop-key' },
          bearer: { kind: 'value', value: 'shop-token' },
          basic: { kind: 'basic', username: 'me', password: 'the-password' },
          oauth: { kind: 'oauth', oauth },
        },
      },
      expect.objectContaining({
        description: { kind: 'url', url: 'https://two.example/openapi.json' },
        server: null,
        tools: ['*'],
        security: {},
        onChange: 'ask',
      }),
    ]);
    expect([...secretValues].sort()).toEqual(
      ['shop-key', 'shop-token', 'the-password', btoa('me:the-password'), 'the-secret'].sort(),
    );
  });

  it.each([
    ['openapi: { shop: {} }', "openapi.shop must have required property 'description'"],
    [
      'openapi: { shop: { description: "ftp://a" } }',
      'openapi.shop.description: must be an http or https URL',
    ],
    ['openapi: { shop: { description: a, server: b } }', 'openapi.shop.server: must be an http or https URL'],
    [
      'openapi: { shop: { description: a, security: { k: {} } } }',
      'openapi.shop.security.k needs exactly one of',
    ],
    [
      'openapi: { shop: { description: a, security: { k: { value: a, value_env: B } } } }',
      'openapi.shop.security.k has both value and value_env; remove one',
    ],
    [
      'openapi: { shop: { description: a, security: { k: { username: a } } } }',
      'openapi.shop.security.k needs password_env too',
    ],
    [
      'openapi: { shop: { description: a, security: { k: { value_env: ABSENT } } } }',
      'openapi.shop.security.k.value_env: the variable ABSENT is not set',
    ],
  ])('%s is refused', (text, message) => {
    expect(() => settings(text)).toThrow(message);
  });
});
