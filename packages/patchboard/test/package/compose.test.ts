import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectionOptions } from '../../src/postgres/connection-options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { codeSpansOf, tablesOf } from '../readme/markdown.ts';
import { ROOT } from '../support/server-process.ts';

interface Service {
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly user?: string;
}

interface Compose {
  readonly services: { readonly postgres: Service; readonly patchboard: Service };
  readonly volumes: Readonly<Record<string, null>>;
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(read('compose.yaml')) as Compose;
const { postgres, patchboard } = compose.services;
const dockerfile = read('Dockerfile');
/** The arguments of an instruction in the last stage of the Dockerfile. */
const instruction = (name: string): string =>
  new RegExp(`^${name} (.*)$`, 'm').exec(dockerfile.split(/^FROM /m).at(-1) ?? '')?.[1] ?? '';

const GIVEN = { POSTGRES_PASSWORD: 'a1b2c3', PATCHBOARD_OPERATOR_TOKEN: 't'.repeat(32) };

/** Fills in variables as Compose does. */
function filled(text: string, given: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(:\?[^}]*)?\}/g, (_whole, name: string, required?: string) => {
    const value = given[name] ?? '';
    if (value === '' && required !== undefined) throw new Error(`${name} is missing: ${required.slice(2)}`);
    return value;
  });
}

function environmentOf(service: Service, given: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(service.environment);
  return Object.fromEntries(entries.map(([name, value]) => [name, filled(value, given)]));
}

describe('compose.yaml', () => {
  it('starts a server that uses the database beside it and listens for the published port', () => {
    const settings = resolveSettings(environmentOf(patchboard, GIVEN), { data: '/data' });
    expect(settings).toMatchObject({
      host: '0.0.0.0',
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
    expect(patchboard.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    // The image's first server, which only creates the database, has no TCP port and must not count as healthy.
    expect(postgres.healthcheck.test.join(' ')).toContain('pg_isready --host 127.0.0.1');
    expect(patchboard.ports).toEqual([`127.0.0.1:${settings.port}:${settings.port}`]);
    expect(patchboard.healthcheck.test.join(' ')).toContain(`http://127.0.0.1:${settings.port}/readyz`);
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
    expect(patchboard.ports?.[0]?.split(':').at(-1)).toBe(instruction('EXPOSE'));
    const [volume, folder] = patchboard.volumes[0]?.split(':') ?? [];
    expect(folder).toBe(instruction('VOLUME'));
    expect(dockerfile).toContain(`PATCHBOARD_DATA=${folder}`);
    expect(dockerfile).toContain(`chown node:node ${folder}`);
    expect([instruction('USER'), patchboard.user]).toEqual(['node', undefined]);
    expect(Object.keys(compose.volumes)).toEqual([postgres.volumes[0]?.split(':')[0], volume]);
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
