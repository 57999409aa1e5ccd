import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';
import { blocksOf, headingsOf, localLinksOf } from './markdown.ts';

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
}

const PACKAGES = readdirSync(join(ROOT, 'packages')).map((folder) => {
  const manifest = JSON.parse(
    readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8'),
  ) as Manifest;
  return { folder, name: manifest.name, isPrivate: manifest.private === true };
});
const PUBLISHED = PACKAGES.filter(({ isPrivate }) => !isPrivate);

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The one command of a document that installs packages. */
function installLine(document: string): string {
  const lines = blocksOf(read(document)).flatMap(({ code }) => code.split('\n'));
  const found = lines.filter((line) => line.startsWith('npm install '));
  expect(found, document).toHaveLength(1);
  return found[0] ?? '';
}

describe.each(PACKAGES)('$name', ({ folder, name, isPrivate }) => {
  const document = `packages/${folder}/README.md`;

  it('has a README with its name, something to run, and links', () => {
    expect(existsSync(join(ROOT, document))).toBe(true);
    expect(headingsOf(read(document))[0]).toEqual({ level: 1, text: name });
    const languages = blocksOf(read(document)).map(({ language }) => language);
    expect(languages).toContain(isPrivate ? 'sh' : 'ts');
    expect(localLinksOf(read(document)).length).toBeGreaterThanOrEqual(2);
  });
});

describe.each([
  { document: 'README.md', names: PUBLISHED.map(({ name }) => name) },
  ...PUBLISHED.map(({ folder, name }) => ({ document: `packages/${folder}/README.md`, names: [name] })),
])('the install line of $document', ({ document, names }) => {
  it('installs what it says into a project beside the clone', { timeout: 120_000 }, () => {
    const project = mkdtempSync(join(tmpdir(), 'patchboard-project-'));
    onTestFinished(() => rmSync(project, { recursive: true, force: true }));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    // Links to folders need nothing from the network.
    const line = `${installLine(document).replaceAll('../patchboard/', ROOT)} --offline --no-audit --no-fund`;
    const options = { cwd: project, env: cleanEnvironment(), encoding: 'utf8', stdio: 'pipe' } as const;
    execFileSync('bash', ['-c', line], options);
    const program = names.map((name) => `console.log(Object.keys(await import('${name}')).length > 0);`);
    const args = ['--conditions=patchboard-source', '--input-type=module', '--eval', program.join('\n')];
    expect(execFileSync(process.execPath, args, options)).toBe('true\n'.repeat(names.length));
  });
});

describe('the picture of the way of a call', () => {
  /** Where each thing is that the picture may name beside an agent or as a provider. */
  const PLACES: Readonly<Record<string, string>> = {
    'HTTP /v1': 'packages/patchboard/src/transports/agent-api/routes.ts',
    MCP: 'packages/patchboard/src/transports/mcp-server/routes.ts',
    'tenant API': 'packages/patchboard/src/transports/tenant-api/routes.ts',
    'command line': 'packages/patchboard/src/cli/main.ts',
    SDK: 'packages/patchboard/src/board/board.ts',
    'text protocol': 'packages/patchboard/src/protocols/vcp/scanner.ts',
    server: 'packages/patchboard/src/core/providers/local-runner.ts',
    device: 'packages/patchboard/src/core/devices/device-provider.ts',
    client: 'packages/patchboard/src/transports/internal-api/results.ts',
    upstream: 'packages/patchboard/src/sources/mcp/upstream-call.ts',
  };

  it('names nothing that is not there', () => {
    const picture = blocksOf(read('README.md')).find(({ code }) => code.startsWith('agent  '))?.code ?? '';
    const [first = ''] = picture.split('\n');
    const ways = first.replace(/^agent +/, '').split(' · ');
    const providers = /\(([\w, ]+)\)/.exec(picture)?.[1]?.split(', ') ?? [];
    expect(ways.length).toBeGreaterThan(3);
    expect(providers).toHaveLength(4);
    for (const name of [...ways, ...providers]) {
      expect(PLACES, name).toHaveProperty([name]);
      expect(existsSync(join(ROOT, PLACES[name] ?? '')), name).toBe(true);
    }
  });
});
