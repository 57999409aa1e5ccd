// Fills two databases with contents and searches both in turn; the last line of output has the measurements.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import type { ContentItem } from '../../packages/patchboard/src/packs/heritage/records.ts';
import { sqliteHeritageStorage } from '../../packages/patchboard/src/packs/heritage/sqlite/sqlite-storage.ts';
import type { HeritageStorage } from '../../packages/patchboard/src/packs/heritage/storage.ts';
import { median } from '../statistics.ts';

export interface SearchSettings {
  readonly files: readonly { readonly file: string; readonly items: number }[];
  readonly rounds: number;
  readonly turns: number;
}

export type Searched = readonly {
  readonly name: string;
  /** Whether its words are equally rare in both files; else one word occurs in all contents. */
  readonly isRare: boolean;
  readonly hits: readonly number[];
  /** Medians in milliseconds, by file and round. */
  readonly runs: readonly (readonly number[])[];
  /** Longest time that the main thread was blocked, by file and round. */
  readonly stalls: readonly (readonly number[])[];
}[];

const SCOPE = { tenant: 'bench', site: 'main' };
const RARE = 10;

const QUERIES = [
  { name: 'many characters', text: '唯此篇说麒麟', isRare: true },
  { name: 'two characters', text: '麒麟', isRare: true },
  { name: 'one character', text: '麟', isRare: true },
  { name: 'an English word', text: 'unicorn', isRare: true },
  { name: 'nothing', text: '凤凰', isRare: true },
  { name: 'a rare word and one that all have', text: '麒麟 旧事', isRare: false },
  { name: 'two characters that all have', text: '旧事', isRare: false },
  { name: 'one character that all have', text: '村', isRare: false },
  { name: 'an English word that all have', text: 'chronicle', isRare: false },
] as const;

/** Ten contents have the rare words, whatever the size. */
function content(number: number, items: number): ContentItem {
  const digits = String(number).replaceAll(/\d/g, (digit) => '零一二三四五六七八九'.charAt(Number(digit)));
  const rare = number % (items / RARE) === 0 ? '，唯此篇说麒麟，a unicorn' : '';
  return {
    id: `item_${number}`,
    content_type: 'chronicle',
    title: `村志第${digits}篇`,
    body: `第${digits}篇记村中旧事，entry ${number} of the chronicle${rare}。`,
    summary: null,
    tags: [number % 2 === 0 ? '双' : '单'],
    domains: [],
    source: null,
    credibility_score: 0.5,
    verified: true,
    status: 'published',
    created_at: '2024-12-13T12:00:00.000Z',
  };
}

async function fill(file: string, items: number): Promise<HeritageStorage> {
  const storage = sqliteHeritageStorage(file);
  const contents = Array.from({ length: items }, (_, index) => content(index + 1, items));
  await storage.importSite(SCOPE, { site_name: '村', contents, npcs: [], prompts: [], pois: [], routes: [] });
  return storage;
}

async function once(storage: HeritageStorage, text: string): Promise<{ ms: number; total: number }> {
  const began = performance.now();
  const query = { text, contentType: null, tags: [], status: 'published', limit: 10 };
  const { total } = await storage.search(SCOPE, query);
  return { ms: performance.now() - began, total };
}

/** Longest delay of a 1 ms timer during the search. */
async function stallOf(storage: HeritageStorage, text: string): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await pause(5);
  await once(storage, text);
  // A late timer is measured when it fires.
  await pause(5);
  delays.disable();
  return delays.max / 1e6;
}

const lists = (): number[][] => [[], []];

const { files, rounds, turns } = JSON.parse(process.argv[2] ?? '') as SearchSettings;
const storages: HeritageStorage[] = [];
for (const { file, items } of files) storages.push(await fill(file, items));
const searched = QUERIES.map((query) => ({ ...query, hits: [0, 0], runs: lists(), stalls: lists() }));
for (let round = -1; round < rounds; round += 1) {
  for (const { text, isRare, hits, runs, stalls } of searched) {
    for (const [index, storage] of storages.entries()) {
      const times: number[] = [];
      // Searches for common words take long enough that three are sufficient.
      for (let turn = 0; turn < (isRare ? turns : 3); turn += 1) {
        const { ms, total } = await once(storage, text);
        times.push(ms);
        hits[index] = total;
      }
      // The first round is the warm-up.
      if (round < 0) continue;
      runs[index]?.push(median(times));
      stalls[index]?.push(await stallOf(storage, text));
    }
  }
}
for (const storage of storages) await storage.close();
process.stdout.write(`${JSON.stringify(searched satisfies Searched)}\n`);
