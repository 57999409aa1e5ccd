import type { Pack } from '../../core/tools/server-tool.ts';
import type { HeritageParts } from './heritage-tool.ts';
import { HERITAGE_PACK, SAMPLE_SCOPE } from './names.ts';
import { YANTIAN } from './sample/yantian.ts';
import type { HeritageStorage } from './storage.ts';
import { createDraftContent } from './tools/create-draft-content.ts';
import { getNpcProfile } from './tools/get-npc-profile.ts';
import { getPromptActive } from './tools/get-prompt-active.ts';
import { getSiteMap } from './tools/get-site-map.ts';
import { logUserEvent } from './tools/log-user-event.ts';
import { searchContent } from './tools/search-content.ts';

export interface HeritageOptions {
  /** Called by the first call of a tool, and again after it rejected. */
  openStorage(): Promise<HeritageStorage>;
  /** Whether to import the sample data unless it exists. */
  readonly withSample: boolean;
  /** Returns the site of a tenant with exactly one, for callers that name none; otherwise null. */
  onlySite(tenant: string): string | null;
  /** Epoch milliseconds. */
  now(): number;
}

/** Tools for the characters of a heritage site: their profiles and prompts, contents, and the map of the site. */
export function heritagePack(options: HeritageOptions): Pack {
  let opening: Promise<HeritageStorage> | null = null;
  const parts: HeritageParts = {
    storage: () => {
      opening ??= openedStorage(options);
      // After a failure, the next call tries again.
      opening.catch(() => (opening = null));
      return opening;
    },
    onlySite: (tenant) => options.onlySite(tenant),
    now: () => options.now(),
  };
  return {
    name: HERITAGE_PACK,
    mustBeNamed: true,
    tools: [
      getNpcProfile(parts),
      searchContent(parts),
      getSiteMap(parts),
      createDraftContent(parts),
      logUserEvent(parts),
      getPromptActive(parts),
    ],
    close: async () => await (await opening)?.close(),
  };
}

async function openedStorage(options: HeritageOptions): Promise<HeritageStorage> {
  const storage = await options.openStorage();
  if (options.withSample && (await storage.siteMap(SAMPLE_SCOPE)) === undefined)
    await storage.importSite(SAMPLE_SCOPE, YANTIAN);
  return storage;
}
