import { createHash } from 'node:crypto';
import { canonicalJson } from '@patchboard/wire/json';
import type { SiteData, SiteScope, UserEvent } from '../../packs/heritage/records.ts';
import { HeritageFile } from '../../packs/heritage/sqlite/heritage-file.ts';
import type { HeritageStorage } from '../../packs/heritage/storage.ts';
import type { Compared } from '../../store/copy/copy-store.ts';
import type { TableDigest } from '../../store/copy/row-digest.ts';

/** Events that are sent before the first is confirmed. */
const TOGETHER = 50;

/** Copies the heritage data of all sites, and compares what the target returns then. */
export async function copyHeritage(
  file: string,
  source: HeritageStorage,
  target: HeritageStorage,
): Promise<Compared<TableDigest>> {
  const contents = new HeritageFile(file);
  try {
    const sites = contents.sites();
    for (const scope of sites) {
      const data = await source.exportSite(scope);
      if (data !== undefined) await target.importSite(scope, data);
      await copyEvents(contents.events(scope), scope, target);
    }
    return {
      name: 'heritage sites',
      source: await digestOf(source, sites),
      target: await digestOf(target, sites),
    };
  } finally {
    contents.close();
  }
}

async function copyEvents(
  events: Iterable<UserEvent>,
  scope: SiteScope,
  target: HeritageStorage,
): Promise<void> {
  let sent: Promise<UserEvent>[] = [];
  for (const event of events) {
    sent.push(target.addEvent(scope, event));
    if (sent.length < TOGETHER) continue;
    await Promise.all(sent);
    sent = [];
  }
  await Promise.all(sent);
}

async function digestOf(storage: HeritageStorage, sites: readonly SiteScope[]): Promise<TableDigest> {
  const hash = createHash('sha256');
  let rows = 0;
  for (const scope of sites) {
    const data = await storage.exportSite(scope);
    if (data === undefined) continue;
    hash.update(canonicalJson([scope, sorted(data)]));
    rows += 1;
  }
  return { rows, sha256: hash.digest('hex') };
}

/** The order of records does not matter. */
function sorted(data: SiteData): Record<string, unknown> {
  const order = (list: readonly unknown[]): string[] => list.map((one) => canonicalJson(one)).toSorted();
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      Array.isArray(value) ? order(value) : (value as unknown),
    ]),
  );
}
