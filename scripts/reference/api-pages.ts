import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { NOTE, type ReferencePage } from './page.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const API_FOLDER = 'docs/reference/api';

/** Generates a page for every export of the library from its types and doc comments. */
export async function apiPages(): Promise<readonly ReferencePage[]> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-api-'));
  try {
    const app = await Application.bootstrapWithPlugins(optionsFor(folder));
    const project = await app.convert();
    if (project === undefined) throw new Error('the types could not be read');
    await app.generateOutputs(project);
    const names = await readdir(folder, { recursive: true });
    const files = names.filter((name) => name.endsWith('.md')).toSorted();
    return await Promise.all(files.map((name) => pageOf(folder, name)));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function optionsFor(out: string): Partial<TypeDocOptions & PluginOptions> {
  return {
    entryPoints: [join(ROOT, 'packages/patchboard/src/index.ts')],
    tsconfig: join(ROOT, 'packages/patchboard/tsconfig.json'),
    // Reads the sources of all packages, so that no build is needed; types are checked elsewhere.
    compilerOptions: { customConditions: ['patchboard-source'] },
    skipErrorChecking: true,
    plugin: ['typedoc-plugin-markdown'],
    out,
    readme: 'none',
    name: 'The library',
    logLevel: 'Error',
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    hideGenerator: true,
    sort: ['alphabetical'],
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
  };
}

async function pageOf(folder: string, name: string): Promise<ReferencePage> {
  const text = await readFile(join(folder, name), 'utf8');
  const [title = '', ...rest] = text.trimEnd().split('\n');
  return { path: `${API_FOLDER}/${name}`, text: `${[title, '', NOTE, ...rest].join('\n')}\n` };
}
