// npm run screenshots -- [--all] [--locale zh-CN] [--to folder] [page …]
// Takes a picture of every page of the console from a real server with real calls: wide and light, narrow and dark.
// `--all`: each size in each theme. `nodes` needs two servers of its own: see `takeover.ts`.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { createClient } from '@patchboard/client';
import { openBrowser } from './browser.ts';
import { shotsOf, type Shot } from './shots.ts';
import { setScene } from './scene.ts';
import { startServer, type SceneServer } from './server.ts';
import { takeTakeover } from './takeover.ts';

const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;
const THEMES = ['light', 'dark'] as const;
/** The screenshots that the documents use. */
const SHOWN: readonly string[] = ['wide light', 'narrow dark'];

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values, positionals } = parseArgs({
  options: {
    to: { type: 'string', default: join(root, 'docs', 'images', 'console') },
    locale: { type: 'string', default: 'en' },
    all: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
mkdirSync(values.to, { recursive: true });

const server = await startServer(root);
const browser = await openBrowser();
try {
  const scene = await setScene(server);
  const shots = shotsOf(scene).filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const theme of THEMES) {
      if (!values.all && !SHOWN.includes(`${size} ${theme}`)) continue;
      await takeAll(browser, server, shots, { size, viewport, theme });
    }
  }
  await scene.close();
  if (positionals.length === 0 || positionals.includes('nodes'))
    await takeTakeover(browser, { root, ...values });
} finally {
  await browser.close();
  await server.stop();
}

interface Look {
  readonly size: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly theme: 'light' | 'dark';
}

async function takeAll(
  from: Browser,
  { url, operatorToken }: SceneServer,
  shots: readonly Shot[],
  { size, viewport, theme }: Look,
): Promise<void> {
  const context = await from.newContext({ viewport, colorScheme: theme, locale: values.locale });
  // Generous timeouts for a busy machine.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const link = await createClient({ url, key: operatorToken }).loginLink();
  await page.goto(`${url}${link.url_path}`);
  await page.locator('#login').waitFor();
  for (const shot of shots) {
    await page.goto(`${url}${shot.path}`);
    await shot.ready(page);
    await take(page, join(values.to, `${shot.name}-${size}-${theme}.png`));
  }
  await context.close();
}

async function take(page: Page, path: string): Promise<void> {
  await page.locator('[data-live="live"]').waitFor();
  await page.screenshot({ path });
  console.log(path);
}
