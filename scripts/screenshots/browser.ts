import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

export async function openBrowser(): Promise<Browser> {
  const executablePath = [
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'chromium')),
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ].find((file) => existsSync(file));
  if (executablePath === undefined)
    throw new Error('chromium is not installed: node scripts/system-packages.mjs');
  return await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  });
}
