import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const FOLDERS = (process.env['PATH'] ?? '').split(delimiter);

/** Takes a quarter less CPU time: it is Chromium without its user interface, which a headless Chromium has too. */
const SHELL = find('chromium-headless-shell');
const CHROMIUM = find('chromium', '/Applications/Chromium.app/Contents/MacOS/Chromium');

function find(name: string, ...others: string[]): string | undefined {
  return [...FOLDERS.map((folder) => join(folder, name)), ...others].find((file) => existsSync(file));
}

export interface BrowserGiven {
  /** Whether no other test uses the browser, for a test that closes or measures it. Default: false. */
  readonly hasOwnBrowser?: boolean;
  /** Enables the back/forward cache, which automation disables and which needs the user interface. */
  readonly hasPageCache?: boolean;
}

/** The test files that run in one worker share their modules, so each worker starts at most one of these. */
let shared: Promise<Browser> | null = null;

/**
 * A browser that the files of a worker share, one after the other; its contexts have profiles of their own. `release` closes
 * the contexts. The browser ends with the worker.
 */
export async function sharedBrowser(): Promise<{ browser: Browser; release: () => Promise<void> }> {
  shared ??= aBrowser([]);
  let browser = await shared;
  if (!browser.isConnected()) {
    shared = aBrowser([]);
    browser = await shared;
  }
  const release = async (): Promise<void> => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return { browser, release };
}

/** A real Chromium with a profile of its own. `names` are made to resolve to this machine. */
export async function aBrowser(names: readonly string[], given: BrowserGiven = {}): Promise<Browser> {
  const executablePath = given.hasPageCache === true ? CHROMIUM : (SHELL ?? CHROMIUM);
  if (executablePath === undefined)
    throw new Error('chromium is not installed: node scripts/system-packages.mjs');
  return await chromium.launch({
    executablePath,
    ...(given.hasPageCache === true ? { ignoreDefaultArgs: ['--disable-back-forward-cache'] } : {}),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Disable the browser's own protection of local servers: the server must not depend on it.
      '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests',
      `--host-resolver-rules=${names.map((name) => `MAP ${name} 127.0.0.1`).join(', ')}`,
    ],
  });
}
