import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { aBrowser } from '../../packages/patchboard/test/guard/support/browser.ts';
import type { StorePlace } from '../arms/bench-settings.ts';
import { MEASURED_PAGES } from '../console/console-pages.ts';
import { describeLoad, LoadTable } from '../console/load-table.ts';
import { loadPage, signIn } from '../console/page-load.ts';
import {
  DEVICES,
  fillConsole,
  serveConsole,
  TOOLS,
  WAITING,
  type ServedConsole,
} from '../console/served-console.ts';
import { startDatabases } from '../databases.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const DEFAULT_CALLS = 10_000;
const QUICK_CALLS = 1000;
const ROUNDS = 3;

/** CONSOLE: what opening each page of the console takes, in a real browser with empty caches, on each store. */
export async function consolePages({ quick, calls = DEFAULT_CALLS, say }: FigureOptions): Promise<Figure> {
  const stored = quick ? QUICK_CALLS : calls;
  const options: FigureOptions = { quick, calls: stored, say: (line) => say(`CONSOLE: ${line}`) };
  const loads = new LoadTable();
  await withTemporaryFolder(async (folder) => {
    const browser = await aBrowser([]);
    try {
      await measureStore(
        browser,
        { label: 'SQLite', place: { folder: join(folder, 'sqlite') } },
        loads,
        options,
      );
      const databases = await startDatabases();
      try {
        const databaseUrl = await databases.create();
        const place = { folder: join(folder, 'postgres'), databaseUrl };
        const prepare = (): Promise<void> => databases.vacuum(databaseUrl);
        await measureStore(browser, { label: 'PostgreSQL', place, prepare }, loads, options);
      } finally {
        await databases.stop();
      }
    } finally {
      await browser.close();
    }
  });
  return figureOf(loads, stored);
}

interface MeasuredStore {
  readonly label: string;
  readonly place: StorePlace;
  /** Called when the store is filled. */
  readonly prepare?: () => Promise<void>;
}

async function measureStore(
  browser: Browser,
  { label, place, prepare }: MeasuredStore,
  loads: LoadTable,
  { quick, calls = DEFAULT_CALLS, say }: FigureOptions,
): Promise<void> {
  say(`${label}: storing ${calls.toLocaleString('en')} calls`);
  const filled = await fillConsole(place, calls);
  await prepare?.();
  const served = await serveConsole(filled);
  try {
    await measurePages(
      browser,
      served,
      (page, load, round) => {
        if (round >= 0) loads.add(label, page, load);
        if (round === 0) say(`${label}, ${page}: ${describeLoad(load)}`);
      },
      quick ? 1 : ROUNDS,
    );
  } finally {
    await served.stop();
  }
}

async function measurePages(
  browser: Browser,
  { url, shown }: ServedConsole,
  done: (page: string, load: Awaited<ReturnType<typeof loadPage>>, round: number) => void,
  rounds: number,
): Promise<void> {
  const signedIn = await signIn(browser, url);
  // The first round is the warm-up of the server: the browser begins anew for each page.
  for (let round = rounds === 1 ? 0 : -1; round < rounds; round += 1) {
    for (const page of MEASURED_PAGES) {
      done(page.name, await loadPage(browser, { url, signedIn, shown }, page), round);
    }
  }
}

function figureOf(loads: LoadTable, calls: number): Figure {
  return {
    id: 'CONSOLE',
    work: [
      `Each page of the console in a new profile of a headless Chromium, on a server with ${calls.toLocaleString('en')} calls of ${TOOLS} tools, ${DEVICES} devices`,
      `and ${WAITING} calls that wait for an approval, until the page requests nothing more. The outcomes are of the page with the largest median.`,
      'KB are as transferred, with headers, without the shared worker; rows: those in the lists of all responses, and those in the document.',
    ],
    durability: 'pages only read',
    outcomes: loads.outcomes(),
    arms: loads.arms(),
    sideBySide: loads.sideBySide(),
  };
}
