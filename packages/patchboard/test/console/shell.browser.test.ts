import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { checkOnPhone, checkPages } from './support/page-walks.ts';
import { echo, remove } from './support/toys.ts';
import { waitFor } from '../support/wait-for.ts';

const FIRST_LOAD_BYTES = 400_000;
const HEARTBEAT_MS = 5000;

let board: TestConsole;
beforeAll(async () => {
  board = await aConsole({ tools: [echo, remove] });
});
afterAll(async () => {
  await board?.close();
});

describe('the first load', () => {
  it('is small, and sends no request to another host', async () => {
    const { page, foreign, done } = await board.open('/', { isSignedIn: false });
    await page.locator('[data-live="live"]').waitFor();
    const { scripts, bytes } = await page.evaluate(() => {
      const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const own = loaded.filter(({ name }) => name.endsWith('.js'));
      return { scripts: own.length, bytes: own.reduce((sum, one) => sum + one.encodedBodySize, 0) };
    });
    expect(scripts).toBeGreaterThan(1);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
    expect(foreign).toEqual([]);
    await done();
  });

  it('has a policy without exceptions, on the page and on every file', async () => {
    for (const path of ['/', '/ui/calls', '/ui/theme.js', '/ui/icon.svg']) {
      const response = await fetch(`${board.url}${path}`);
      expect(response.status).toBe(200);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'self'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|data:|\*|https?:/);
    }
  });

  it('is sent as brotli or gzip, as the browser accepts', async () => {
    const texts = await Promise.all(
      ['br, gzip', 'gzip', 'identity'].map(async (accepted) => {
        const headers = { 'accept-encoding': accepted };
        const response = await fetch(`${board.url}/ui/theme.js`, { headers });
        return { encoding: response.headers.get('content-encoding'), text: await response.text() };
      }),
    );
    expect(texts.map(({ encoding }) => encoding)).toEqual(['br', 'gzip', null]);
    expect(new Set(texts.map(({ text }) => text)).size).toBe(1);
  });

  it('returns 404 for a missing file, and serves nothing outside its folder', async () => {
    for (const path of [
      '/ui/assets/none.js',
      '/ui/none.css',
      '/ui/..%2f..%2fpackage.json',
      '/ui/%2e%2e/index.js',
    ]) {
      const response = await fetch(`${board.url}${path}`);
      expect(await response.text()).not.toContain('"dependencies"');
    }
    expect((await fetch(`${board.url}/ui/assets/none.js`)).status).toBe(404);
  });
});

describe('a chunk that cannot be loaded', () => {
  it('is loaded by a reload of the page, also after a second failure', async () => {
    const { page, context } = await board.open('/ui/calls');
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { name: 'Calls' }).first().waitFor();
    let refused = 0;
    await page.route('**/assets/MetricsPage-*.js', (route) => {
      refused += 1;
      return refused <= 2 ? route.abort() : route.continue();
    });
    await page.getByRole('link', { name: 'Metrics' }).click();
    // The page asks every second whether the server is there, and reloads once in ten seconds.
    await waitFor(async () => {
      await page.clock.fastForward(1000);
      expect(await page.getByRole('heading', { name: 'Queue' }).isVisible()).toBe(true);
    });
    expect(refused).toBe(3);
    await context.close();
  });
});

describe('a new version of the console', () => {
  it('is named when a page of the old one cannot be loaded, and opens that page', async () => {
    const { page, context } = await board.open('/ui/calls');
    await page.route('**/ui/', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/assets\/index-[^"]+\.js/, 'assets/index-newer.js');
      await route.fulfill({ response, body });
    });
    let isNew = false;
    await page.route('**/assets/MetricsPage-*.js', (route) =>
      isNew ? route.continue() : route.fulfill({ status: 404 }),
    );
    // The page reloads once in ten seconds: until then it says what it waits for.
    await page.evaluate(() =>
      sessionStorage.setItem('patchboard.began-again', String(Date.now() + 3_600_000)),
    );
    await page.getByRole('link', { name: 'Metrics' }).click();
    const notice = page.locator('[data-missing="newer"]', { hasText: 'to show “Metrics”' });
    await notice.waitFor();
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Metrics' }).click();
    isNew = true;
    await notice.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await context.close();
  });
});

// shell.long.test.ts has the other languages and themes, and every page at the width of a phone.
describe('every page', () => {
  it('opens in en, light', async () => {
    await checkPages(board, 'en', 'light');
  });

  it('fits a phone, where the menu leads from page to page', async () => {
    await checkOnPhone(board, ['calls']);
  });
});

describe('signing in', () => {
  it('works by link, once, and takes the link out of the address', async () => {
    const { page, context, done } = await board.open('/');
    await page.locator('#login', { hasText: 'signed in as operator' }).waitFor();
    await page.waitForURL((address) => !address.hash.includes('login='));
    await page.locator('[data-signed-in="true"]').waitFor();
    // A second tab is signed in too.
    const second = await context.newPage();
    await second.goto(`${board.url}/ui/approvals`);
    await second.locator('[data-signed-in="true"]').waitFor();
    await second.close();
    await done();
  });

  it('is reported until the user goes on, and not for ever', async () => {
    const { page, done } = await board.open('/ui/settings');
    await page.locator('#login').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Metrics' }).click();
    await page.locator('#login').waitFor({ state: 'detached' });
    await page.clock.install();
    await page.goto('about:blank');
    await page.goto(`${board.url}/ui/settings#login=${board.server.platform.loginToken()}`);
    await page.locator('#login').waitFor();
    await page.clock.fastForward(15_000);
    await page.locator('#login').waitFor({ state: 'detached' });
    await done();
  });

  it('works by pasting a link, and says when it was used before', async () => {
    const { page, done } = await board.open('/ui/login', { isSignedIn: false });
    const link = `${board.url}/#login=${board.server.platform.loginToken()}`;
    await page.locator('#token').fill(link);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/approvals*');
    await page.goto(`${board.url}/ui/login`);
    await page.locator('[data-sign-out]').click();
    await page.locator('#token').fill(link);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'used before' }).waitFor();
    await done();
  });

  it('is not needed to test tools on this machine; operator pages say how it is done', async () => {
    const { page, done } = await board.open('/ui/approvals', { isSignedIn: false });
    await page
      .locator('[data-state="needs-operator"]', { hasText: 'npx patchboard login' })
      .first()
      .waitFor();
    // Not for operators alone: a key signs in too.
    await page.locator('[data-state="needs-operator"]', { hasText: 'paste a key' }).first().waitFor();
    await page.goto(`${board.url}/ui/tester`);
    await page.locator('[data-tool="toy.echo"]').waitFor();
    await done();
  });
});

describe('the shell', () => {
  it('marks the page in the menu, and the list that a detail belongs to', async () => {
    const { page, done } = await board.open('/ui/calls');
    const marked = page.locator('nav [aria-current]');
    await expect.poll(() => marked.allInnerTexts()).toEqual(['Calls']);
    for (const [path, list] of [
      ['calls/tc_none', 'Calls'],
      ['runs/run_none', 'Runs'],
      ['compare', 'Runs'],
    ] as const) {
      await page.goto(`${board.url}/ui/${path}`);
      await expect.poll(() => marked.allInnerTexts()).toEqual([list]);
      expect(await marked.getAttribute('aria-current')).toBe('true');
    }
    await done();
  });

  it('names each tab after what it shows', async () => {
    const response = await board.server.ask({
      method: 'POST',
      path: '/v1/tools/toy.echo/invoke',
      body: { run_id: 'titled', args: {} },
    });
    const { tool_call_id: id } = response.json as { tool_call_id: string };
    const { page, done } = await board.open(`/ui/calls/${id}`);
    await expect.poll(() => page.title()).toBe('toy.echo · Patchboard');
    await page.getByRole('navigation').getByRole('link', { name: 'Calls' }).click();
    await expect.poll(() => page.title()).toBe('Calls · Patchboard');
    await page.getByRole('navigation').getByRole('link', { name: 'Tester' }).click();
    await expect.poll(() => page.title()).toBe('Tester · Patchboard');
    await done();
  });

  it('finds anything by keyboard', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.locator('h1').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('[data-palette] input:focus').waitFor();
    await page.keyboard.type('toy.echo');
    await page.locator('[data-palette] [role=option]', { hasText: 'toy.echo' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/tester?tool=toy.echo*');
    await page.keyboard.press('Control+k');
    await page.locator('[data-palette] input:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('[data-palette]').waitFor({ state: 'detached' });
    await done();
  });

  it('changes language and theme at once, and remembers them', async () => {
    const { page, done } = await board.open('/ui/calls');
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.getByRole('heading', { name: '调用' }).waitFor();
    await page.getByRole('button', { name: '深色主题' }).click();
    await page.locator('html.dark').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: '调用' }).waitFor();
    await page.locator('html.dark').waitFor();
    await done();
  });

  it('keeps tenants apart, and the tenant in the address', async () => {
    await board.server.asOperator('POST', '/v1/tools/toy.echo/invoke', { run_id: 'r', args: {} });
    const { page, done } = await board.open('/ui/calls?tenant=acme');
    await page.locator('[data-state="empty"]').waitFor();
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.waitForURL('**/ui/tools?tenant=acme');
    await page.goto(`${board.url}/ui/calls`);
    await page.locator('[data-call]').first().waitFor();
    await done();
  });

  it('offers the tenants that the server knows of', async () => {
    await board.server.asOperator('PUT', '/v1/tenants/umbrella', { sites: ['site-1'] });
    const { page, done } = await board.open('/ui/calls');
    await page.getByRole('combobox', { name: 'Tenant' }).click();
    await page.getByRole('option', { name: 'umbrella' }).click();
    await page.waitForURL('**/ui/calls?tenant=umbrella');
    await done();
  });

  it('returns to the default tenant', async () => {
    await board.server.asOperator('POST', '/v1/tools/toy.echo/invoke', { run_id: 'r', args: {} });
    const { page, done } = await board.open('/ui/calls?tenant=acme');
    await page.locator('[data-state="empty"]').waitFor();
    await page.getByRole('combobox', { name: 'Tenant' }).click();
    await page.getByRole('option', { name: 'default' }).click();
    await expect.poll(() => page.locator('[data-call]').count()).toBeGreaterThan(0);
    // A navigation keeps it.
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.waitForURL('**/ui/tools?tenant=default');
    await done();
  });
});

// The last ones: with the first key local mode is over.
describe('keys', () => {
  it('the first one asks for confirmation, and says what it ends', async () => {
    const { page, done } = await board.open('/ui/agents');
    await page.locator('[data-key-name]').fill('first');
    await page.locator('[data-create-key]').click();
    const dialog = page.locator('[data-first-key]');
    await dialog.getByText('requests without a credential are refused from now on').waitFor();
    await dialog.getByText('npx patchboard login').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect((await fetch(`${board.url}/v1/tools`)).status).toBe(200);
    await page.locator('[data-create-key]').click();
    await page.locator('[data-create-first]').click();
    await page.locator('[data-minted]').waitFor();
    expect((await fetch(`${board.url}/v1/tools`)).status).toBe(401);
    await page.locator('[data-last-used="never"]').waitFor();
    await page.locator('[data-key-name]').fill('second');
    await page.locator('[data-create-key]').click();
    await page.locator('[data-minted]', { hasText: 'second' }).waitFor();
    await done();
  });

  it('are sorted by their last use', async () => {
    const used = await board.server.mint({ kind: 'agent', name: 'used' });
    await board.server.ask({ method: 'GET', path: '/v1/tools', headers: used.headers });
    const { page, done } = await board.open('/ui/agents');
    await page.locator(`[data-key="${used.id}"] [data-last-used]`, { hasText: /now|ago/ }).waitFor();
    const first = page.locator('[data-key]').first();
    expect(await first.getAttribute('data-key')).not.toBe(used.id);
    await page.locator('[data-sort="used"]').click();
    await expect.poll(() => first.getAttribute('data-key')).toBe(used.id);
    await page.locator('[data-sort="used"]').click();
    await expect.poll(() => first.getAttribute('data-key')).not.toBe(used.id);
    await done();
  });

  it('sign in: pages, buttons and the tenant are those of the key, until it is revoked', async () => {
    const wanted = { kind: 'service', name: 'auditor', scopes: ['calls:read', 'ledger:read'] } as const;
    const key = await board.server.mint({ ...wanted, tenant: 'acme' });
    const made = await board.server.asOperator(
      'POST',
      '/v1/tools/toy.echo/invoke',
      { run_id: 'r', args: {} },
      'acme',
    );
    const call = (made.json as { tool_call_id: string }).tool_call_id;
    const { page, done } = await board.open('/ui/login', { isSignedIn: false });
    await page.locator('#token').fill(key.secret);
    const refused = refusalsOf(page);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/calls*');
    await page.locator('[data-signed-in="true"]', { hasText: 'auditor' }).waitFor();
    await page.locator('[data-fixed-tenant]', { hasText: 'acme' }).waitFor();
    await page.locator(`[data-call="${call}"]`).waitFor();
    const links = await page.locator('nav .link').allInnerTexts();
    expect(links).toEqual(expect.arrayContaining(['Calls', 'Ledger', 'Metrics', 'Settings']));
    for (const page of ['Tester', 'Approvals', 'Tools', 'Devices', 'Upstreams', 'Nodes', 'Agents & policy'])
      expect(links).not.toContain(page);

    await page.goto(`${board.url}/ui/calls/${call}`);
    await page.locator('[data-copy-as]').waitFor();
    expect(await page.locator('[data-replay]').count()).toBe(0);
    // Another tenant in the address changes nothing.
    await page.goto(`${board.url}/ui/ledger?tenant=default`);
    await page.locator('[data-row]').first().waitFor();
    await page.goto(`${board.url}/ui/agents`);
    await page.locator('[data-state="page-refused"]', { hasText: 'keys:write' }).waitFor();
    await page.goto(`${board.url}/`);
    await page.waitForURL('**/ui/calls*');
    await page.locator('[data-live="live"]').waitFor();
    expect(refused).toEqual([]);

    await board.server.asOperator('DELETE', `/v1/keys/${key.id}`, undefined, 'acme');
    await page.locator('[data-notice="session-ended"]').waitFor();
    await done();
  });

  it('have no link to a page that they may not open', async () => {
    const scopes = ['tools:call', 'calls:read'] as const;
    const key = await board.server.mint({ kind: 'agent', name: 'caller', scopes });
    const { page, done } = await board.open('/ui/login', { isSignedIn: false });
    await page.locator('#token').fill(key.secret);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/tester*');
    await page.goto(`${board.url}/ui/tester?tool=toy.remove&args=%7B%22path%22%3A%22%2Fx%22%7D`);
    await page.locator('[data-run]:not([disabled])').click();
    await page.locator('[data-result]', { hasText: 'It waits for an operator' }).waitFor();
    expect(await page.locator('[data-result] a[href^="/ui/approvals"]').count()).toBe(0);
    await done();
  });

  it('make a visitor without one sign in, and no page claims figures before', async () => {
    await board.server.mint({ kind: 'service', name: 'first', scopes: ['calls:read'] });
    for (const name of ['tester', 'calls', 'metrics']) {
      const { page, done } = await board.open(`/ui/${name}`, { isSignedIn: false });
      await page.locator('[data-signed-out]', { hasText: 'npx patchboard login' }).waitFor();
      expect(await page.locator('[data-state="needs-operator"]').count()).toBe(1);
      expect(await page.locator('[data-live]').count()).toBe(0);
      const words = await page.locator('main').innerText();
      expect(words.replace(board.url, '')).not.toMatch(/\d/);
      await done();
    }
    const { page, done } = await board.open('/ui/settings', { isSignedIn: false });
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    expect(await page.locator('[data-signed-out]').count()).toBe(0);
    await page.getByRole('link', { name: 'Tester' }).click();
    await page.locator('[data-signed-out]').waitFor();
    await done();
  });

  it('that may not read calls follow no events, nor those that were followed before', async () => {
    const key = await board.server.mint({ kind: 'service', name: 'clerk', scopes: ['ledger:read'] });
    const { page, done } = await board.open('/ui/login', { isSignedIn: false });
    await page.clock.install();
    await page.reload();
    await page.locator('#token').fill(key.secret);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/ledger*');
    await page.locator('[data-row]').first().waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    // A stream that the server refuses makes the page ask at each heartbeat whose session it has.
    for (let beat = 0; beat < 5; beat += 1) {
      await page.clock.fastForward(HEARTBEAT_MS);
      await page.evaluate(() => fetch('/healthz').then((response) => response.ok));
    }
    expect(asked).toContain('/healthz');
    expect(asked).not.toContain('/v1/session');
    await done();
  });

  it('are not taken from a link, which somebody else may have made', async () => {
    const key = await board.server.mint({ kind: 'operator', name: 'stranger' });
    const { page, done } = await board.open(`/ui/login#login=${key.secret}`, { isSignedIn: false });
    await page.locator('#token').waitFor();
    await page.waitForURL((address) => address.hash === '');
    expect(await page.context().cookies()).toEqual([]);
    await done();
  });
});

/** The requests of the page that the server refuses from now on. */
function refusalsOf(page: Page): string[] {
  const refused: string[] = [];
  page.on('response', (response) => {
    if ([401, 403].includes(response.status())) refused.push(`${response.status()} ${response.url()}`);
  });
  return refused;
}
