import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { PatchboardError } from '@patchboard/client';
import type { Command } from 'commander';
import { messageOf } from '../../core/failures.ts';
import { pointerParts } from '@patchboard/wire/json';
import { SAMPLE_SCOPE } from '../../packs/heritage/names.ts';
import type { SiteScope } from '../../packs/heritage/records.ts';
import {
  hasPostgresHeritage,
  postgresHeritageStorage,
} from '../../packs/heritage/postgres/postgres-storage.ts';
import { decodeSiteData } from '../../packs/heritage/site-data.ts';
import { sqliteHeritageStorage } from '../../packs/heritage/sqlite/sqlite-storage.ts';
import type { HeritageStorage } from '../../packs/heritage/storage.ts';
import type { CliContext } from '../context.ts';
import { withJsonOptions } from '../json-options.ts';
import { UsageError } from '../exit-codes.ts';
import { throwIfInvalidId } from '../invalid-id.ts';
import { readInput } from '../read-input.ts';
import { makeDataFolder } from '../../settings/make-data-folder.ts';
import { printable } from '../terminal-text.ts';
import { parseText } from '../../settings/yaml-text.ts';
import { heritageFile } from '../../wiring/heritage-storage.ts';
import { storeLocation, withStoreFlags, type StoreFlags, type StoreLocation } from '../store-location.ts';
import { registerCopy } from './data-copy.ts';
import { registerStoreCommands } from './data-store.ts';
import { fileProblem } from '../../settings/file-problem.ts';

interface DataFlags extends StoreFlags {
  readonly tenant: string;
  readonly site: string;
  readonly json?: boolean;
}

interface ExportFlags extends DataFlags {
  readonly out?: string;
}

const SHOWN_PROBLEMS = 20;
const SHOWN_SYNTAX_PROBLEMS = 3;

const WHERE = `
Reads and writes the data folder directly (PATCHBOARD_DATA, default
./.patchboard), or the database if DATABASE_URL or --database names one; also
while a server uses it.`;

/** Imports and exports the site data of the heritage tools. */
export function dataCommand(context: CliContext): (program: Command) => void {
  return (program) => {
    const data = program
      .command('data')
      .description('import and export site data of the heritage tools; recover from data loss');
    withSite(data.command('import'))
      .description('add the records of a YAML or JSON file, replacing those with the same id')
      .argument('<file>', 'file in the format of data export, - for standard input')
      .addHelpText(
        'after',
        `${WHERE}\n\nExample:\n  $ patchboard data import village.yaml --tenant acme --site old-town`,
      )
      .action((file: string, flags: DataFlags) => importData(context, file, flags));
    withSite(data.command('export'))
      .description('write all data of a site as JSON, except visitor events')
      .option('--out <file>', 'write to this file instead of stdout')
      .addHelpText(
        'after',
        `${WHERE}\n\nExample:\n  $ patchboard data export --tenant yantian --site yantian-main`,
      )
      .action((flags: ExportFlags) => exportData(context, flags));
    registerCopy(data, context);
    registerStoreCommands(data, context);
  };
}

function withSite(command: Command): Command {
  const named = command
    .requiredOption('--tenant <id>', 'tenant of the site')
    .requiredOption('--site <id>', 'id of the site');
  return withJsonOptions(withStoreFlags(named, 'use the site data'));
}

async function importData(context: CliContext, file: string, flags: DataFlags): Promise<void> {
  const { output, sources } = context;
  const scope = scopeOf(flags);
  const text = await readInput(sources, file);
  const parsed = parseText(text);
  const decoded =
    parsed.problems.length > 0
      ? { ok: false as const, problems: [] }
      : decodeSiteData(parsed.value, new Date().toISOString());
  if (!decoded.ok) {
    const problems = [
      ...parsed.problems,
      ...decoded.problems.map(({ path, message }) => {
        const place = pointerParts(path);
        return { line: parsed.lineOf(place), message: `${place.join('.') || 'the data'} ${message}` };
      }),
    ];
    // After the first few syntax errors, the others are usually consequences of them.
    const shown = parsed.problems.length > 0 ? SHOWN_SYNTAX_PROBLEMS : SHOWN_PROBLEMS;
    const lines = problems.slice(0, shown).map(({ line, message }) => `${file}:${line}: ${message}`);
    throw new UsageError(`nothing was imported:\n  ${lines.join('\n  ')}`);
  }
  await withStorage(storeLocation(context, flags), (storage) => storage.importSite(scope, decoded.data));
  const counts = Object.fromEntries(
    Object.entries(decoded.data).flatMap(([name, value]) =>
      Array.isArray(value) ? [[name, value.length]] : [],
    ),
  ) as Record<string, number>;
  if (flags.json === true) return output.json({ ...scope, ...counts });
  const words = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  output.note(`${scope.tenant} ${scope.site}: ${words.join(', ')}`);
}

async function exportData(context: CliContext, flags: ExportFlags): Promise<void> {
  const scope = scopeOf(flags);
  const location = storeLocation(context, flags);
  // An export creates neither the file nor the tables.
  const data = (await hasStorage(location))
    ? await withStorage(location, (storage) => storage.exportSite(scope))
    : undefined;
  if (data === undefined) throw noDataError(scope, location);
  const text = `${JSON.stringify(data, null, 2)}\n`;
  if (flags.out === undefined) {
    // The output is JSON in any case, and `--select` takes parts of it.
    if (flags.json === true) return context.output.json(data);
    return await context.writeOut(context.isTerminal ? printable(text) : text);
  }
  await writeFile(flags.out, text, { mode: 0o600 }).catch((error: unknown) => {
    throw new UsageError(`--out: ${fileProblem(error)}`);
  });
  const contents = data.contents.length;
  if (flags.json === true) context.output.json({ ...scope, file: flags.out, contents });
  else context.output.note(`${contents} contents written to ${flags.out}`);
}

function noDataError(scope: SiteScope, location: StoreLocation): PatchboardError {
  const message = `there is no data of tenant ${scope.tenant}, site ${scope.site} in ${placeOf(location)}`;
  const advice = isSample(scope)
    ? 'the sample data is created by the first call of one of its tools'
    : 'import data with: patchboard data import; or name another data folder with --data or PATCHBOARD_DATA, or a database with --database';
  return new PatchboardError('problem', message, { code: 'value_not_found', recommendations: [advice] });
}

function placeOf(location: StoreLocation): string {
  return location.kind === 'folder' ? location.folder : `${location.shown}, schema ${location.schema}`;
}

function isSample({ tenant, site }: SiteScope): boolean {
  return tenant === SAMPLE_SCOPE.tenant && site === SAMPLE_SCOPE.site;
}

function scopeOf({ tenant, site }: DataFlags): SiteScope {
  throwIfInvalidId('--tenant', tenant);
  throwIfInvalidId('--site', site);
  return { tenant, site };
}

async function hasStorage(location: StoreLocation): Promise<boolean> {
  if (location.kind === 'folder') return existsSync(heritageFile(location.folder));
  return await usable(location, () => hasPostgresHeritage(location));
}

async function withStorage<T>(
  location: StoreLocation,
  work: (storage: HeritageStorage) => Promise<T>,
): Promise<T> {
  const storage = await usable(location, () => openStorage(location));
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

async function openStorage(location: StoreLocation): Promise<HeritageStorage> {
  // Not prepared: the database may be behind a pooler.
  if (location.kind === 'postgres') return await postgresHeritageStorage({ ...location, prepare: false });
  await makeDataFolder(location.folder);
  return sqliteHeritageStorage(heritageFile(location.folder));
}

async function usable<T>(location: StoreLocation, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const place = location.kind === 'folder' ? heritageFile(location.folder) : location.shown;
    throw new UsageError(`cannot use ${place}: ${messageOf(error)}`);
  }
}
