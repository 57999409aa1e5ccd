import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const EXECUTABLE = [
  ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'chromium')),
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
].find((file) => existsSync(file));

export interface BrowserGiven {
  /** Enables the back/forward cache, which automation disables. */
  readonly hasPageCache?: boolean;
}

/** A real Chromium with a profile of its own. `names` are made to resolve to this machine. */
export async function aBrowser(names: readonly string[], given: BrowserGiven = {}): Promise<Browser> {
  if (EXECUTABLE === undefined)
    throw new Error('chromium is not installed: node scripts/system-packages.mjs');
  return await chromium.launch({
    executablePath: EXECUTABLE,
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
