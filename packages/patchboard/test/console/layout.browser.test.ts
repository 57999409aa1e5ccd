import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { echo, remove } from './support/toys.ts';

/** The length of a failure code; also the name of a tool. */
const LONG_CODE = 'upstream_unreachable';
const LONG_NAME = 'a_tool_with_a_name_that_is_longer_than_the_forty_eight_characters_of_others';

let board: TestConsole;
let call: string;
beforeAll(async () => {
  const tools = [echo, { ...echo, name: LONG_CODE }, { ...echo, name: LONG_NAME }, remove];
  board = await aConsole({ tools });
  const body = { run_id: 'r', args: { word: 'hello' } };
  const response = await board.server.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', body });
  call = (response.json as { tool_call_id: string }).tool_call_id;
  await board.server.ask({ method: 'POST', path: `/v1/tools/${LONG_CODE}/invoke`, body });
  const long = { run_id: 'long', args: {} };
  await board.server.ask({ method: 'POST', path: `/v1/tools/${LONG_NAME}/invoke`, body: long });
});
afterAll(async () => {
  await board?.close();
});

/** Left and right edge of the text of each visible heading. */
async function headingsOf(page: Page): Promise<{ words: string; left: number; right: number }[]> {
  return await page.getByRole('columnheader').evaluateAll((headings) =>
    headings.flatMap((heading) => {
      const range = document.createRange();
      range.selectNodeContents(heading);
      const { left, right, width } = range.getBoundingClientRect();
      return width === 0 ? [] : [{ words: heading.textContent, left, right }];
    }),
  );
}

describe('the lists of calls and of runs', () => {
  it.each([
    ['en', 'calls', '[data-call]'],
    ['zh-CN', 'calls', '[data-call]'],
    ['en', 'runs', '[data-run]'],
    ['zh-CN', 'runs', '[data-run]'],
  ])('have headings side by side inside the table at every width: %s %s', async (locale, name, row) => {
    const { page, done } = await board.open(`/ui/${name}`, { locale });
    for (const width of [1280, 1024, 900, 861, 700, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.locator(row).first().waitFor();
      const headings = await headingsOf(page);
      const { right: edge } = await page
        .getByRole('table')
        .evaluate((table) => table.getBoundingClientRect().toJSON() as { right: number });
      const overlaps = headings.filter(({ right }, at) => right > (headings[at + 1]?.left ?? edge));
      expect({ width, overlaps }).toEqual({ width, overlaps: [] });
      expect(headings.length).toBeGreaterThan(2);
    }
    await done();
  });
});

describe('the list of calls', () => {
  it.each(['en', 'zh-CN'])('gives the arguments more room than any other column: %s', async (locale) => {
    const { page, done } = await board.open('/ui/calls', { locale });
    for (const width of [1280, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      const row = page.locator(`[data-call="${call}"]`);
      await row.waitFor();
      const cells = await row
        .getByRole('cell')
        .evaluateAll((nodes) =>
          nodes.map((node) => ({ words: node.textContent, width: node.getBoundingClientRect().width })),
        );
      const widest = cells.toSorted((a, b) => b.width - a.width)[0];
      expect({ width, widest: widest?.words }).toEqual({ width, widest: '{"word":"hello"}' });
    }
    await done();
  });
});

/** The texts of the elements that are cut, or on more than one line. */
async function brokenTexts(elements: Locator): Promise<string[]> {
  return await elements.evaluateAll((nodes) =>
    nodes.flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right } = node.getBoundingClientRect();
      const boxes = [...range.getClientRects()];
      const isWhole = boxes.every((box) => box.left > left - 1 && box.right < right + 1);
      const lines = new Set(boxes.map(({ top }) => Math.round(top)));
      return isWhole && lines.size <= 1 ? [] : [node.textContent];
    }),
  );
}

/** Changes each call that the page reads. */
async function withChangedCalls(page: Page, changes: object): Promise<void> {
  await page.route(/\/v1\/(tool_calls(\/tc_[^/?]*)?|runs\/[^/?]+)(\?.*)?$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { tool_calls?: object[] };
    const calls = body.tool_calls?.map((one) => ({ ...one, ...changes }));
    const json = calls === undefined ? { ...body, ...changes } : { ...body, tool_calls: calls };
    await route.fulfill({ response, json });
  });
}

/** Reports the longest times for each call that the page reads. */
async function withLongTimes(page: Page): Promise<void> {
  const longestMs = 3_598_800;
  await withChangedCalls(page, { duration_ms: longestMs, waited_ms: longestMs, ran_ms: longestMs });
}

/** Lets the calls of each run that the page reads begin almost an hour earlier. */
async function withLongRuns(page: Page): Promise<void> {
  await page.route(/\/v1\/runs\/[^/?]+(\?.*)?$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { tool_calls: { timeline: { at: string }[] }[] };
    for (const { timeline } of body.tool_calls) {
      const last = Date.parse(timeline.at(-1)!.at);
      for (const step of timeline.slice(0, -1)) step.at = new Date(last - 3_598_800).toISOString();
    }
    await route.fulfill({ response, json: body });
  });
}

describe('the waterfall of a run', () => {
  it('has the names of tools whole, beside a failure code that is cut instead', async () => {
    const { page, done } = await board.open('/ui/nowhere');
    const error = { code: LONG_CODE, message: 'no connection', retryable: true };
    await withChangedCalls(page, { state: 'FAILED', error });
    await page.goto(`${board.url}/ui/runs/r`);
    for (const width of [1280, 1024, 900]) {
      await page.setViewportSize({ width, height: 800 });
      const row = page.locator(`[data-call="${call}"]`);
      await row.locator('.code:visible').waitFor();
      expect({ width, broken: await brokenTexts(row.locator('.tool')) }).toEqual({ width, broken: [] });
      expect(await row.locator('.code').getAttribute('title')).toBe(LONG_CODE);
    }
    await done();
  });
});

describe('the parser', () => {
  it.each(['en', 'zh-CN'])('has the table of arguments whole in its pane: %s', async (locale) => {
    const { page, done } = await board.open('/ui/tester', { locale });
    const request = ['<<<[TOOL_REQUEST]>>>', 'tool_name:「始」toy.remove「末」,', 'path:「始」/reply「末」,'];
    const rest = ['count:「始」3「末」,', 'expression:「始」(3+4)*6「末」', '<<<[END_TOOL_REQUEST]>>>'];
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('[data-reply]').fill([...request, ...rest].join('\n'));
    await page.locator('[data-argument="count"] .coerced').waitFor();
    const [inner, outer] = await page
      .locator('[data-request] .scroll-x')
      .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    expect(inner).toBe(outer);
    expect(await brokenTexts(page.locator('[data-argument] .name'))).toEqual([]);
    await done();
  });
});

describe('failure codes', () => {
  it('are whole in the list of calls, at every width', async () => {
    const { page, done } = await board.open('/ui/nowhere');
    const error = { code: LONG_CODE, message: 'no connection', retryable: true };
    await withChangedCalls(page, { state: 'FAILED', error });
    await page.goto(`${board.url}/ui/calls`);
    for (const width of [1280, 1024, 900, 861, 700, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const codes = page.locator('[data-call] .code:visible');
      await codes.first().waitFor();
      expect(await codes.first().textContent()).toBe(LONG_CODE);
      expect({ width, broken: await brokenTexts(codes) }).toEqual({ width, broken: [] });
    }
    await done();
  });

  it('have room in the table of metrics, which is not cut', async () => {
    const { page, done } = await board.open('/ui/metrics?by=tool');
    const name = page.locator(`[data-series="${LONG_CODE}"] [data-series-link]`);
    await name.waitFor();
    expect(await brokenTexts(name)).toEqual([]);
    const [inner, outer] = await page
      .locator('[data-series-table] .scroll-x')
      .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
    expect(inner).toBe(outer);
    await done();
  });
});

describe('a heading that sorts', () => {
  /** In pixels: a line is higher than its letters. */
  const LESS_THAN_A_LINE = 10;

  it('has no line for the arrow alone', async () => {
    const { page, done } = await board.open('/ui/metrics?by=tool');
    await page.locator('[data-series-link]').first().waitFor();
    const headings = page.locator('[data-series-table] [data-sort]');
    for (const heading of await headings.all()) {
      await heading.click();
      const [whole, words] = await heading.evaluate((button) => {
        const range = document.createRange();
        range.selectNodeContents(button);
        return [button.getBoundingClientRect().height, range.getBoundingClientRect().height];
      });
      const name = await heading.textContent();
      expect({ name, isHigher: whole! - words! > LESS_THAN_A_LINE }).toEqual({ name, isHigher: false });
    }
    await done();
  });
});

describe('a tool that a link opens', () => {
  it('is in view in the list, beside its details', async () => {
    const height = 520;
    const { page, done } = await board.open('/ui/tools?tool=toy.echo', { viewport: { width: 1280, height } });
    await page.locator('[data-tool-detail] pre').first().waitFor();
    await page.locator('.entry[aria-current]').waitFor();
    for (const shown of ['.entry[aria-current]', '[data-tool-detail] h2']) {
      const box = await page.locator(shown).boundingBox();
      expect(box!.y).toBeGreaterThan(0);
      expect(box!.y + box!.height).toBeLessThanOrEqual(height);
    }
    await done();
  });
});

describe('a tool that does not exist', () => {
  it('has no link to the tester', async () => {
    const { page, done } = await board.open('/ui/tools?tool=toy.echoo');
    const detail = page.locator('[data-tool-detail]');
    await detail.locator('[data-state="failed"]').waitFor();
    expect(await detail.getByRole('link', { name: 'Test it' }).count()).toBe(0);
    await page.goto(`${board.url}/ui/tools?tool=toy.echo`);
    await detail.getByRole('link', { name: 'Test it' }).waitFor();
    await done();
  });
});

describe('times of an hour', () => {
  it('are on one line in the list of calls, at every width', async () => {
    const { page, done } = await board.open('/ui/nowhere');
    await withLongTimes(page);
    await page.goto(`${board.url}/ui/calls`);
    for (const width of [1280, 1024, 900, 861, 700]) {
      await page.setViewportSize({ width, height: 800 });
      const times = page.locator('[data-call] .end:visible');
      await times.first().waitFor();
      expect(await times.first().textContent()).toBe('59 min 59 s');
      expect({ width, broken: await brokenTexts(times) }).toEqual({ width, broken: [] });
    }
    await done();
  });

  it('are on one line in the timeline of a call, also on a phone', async () => {
    const { page, done } = await board.open('/ui/nowhere', { viewport: { width: 390, height: 844 } });
    await withLongTimes(page);
    await page.goto(`${board.url}/ui/calls/${call}`);
    const total = page.locator('.timeline .end').last();
    await total.waitFor();
    expect(await total.textContent()).toBe('59 min 59 s');
    expect(await brokenTexts(total)).toEqual([]);
    await done();
  });
});

describe('a run of an hour', () => {
  it('has each time on one line, and on a phone the name of its slowest call', async () => {
    const { page, done } = await board.open('/ui/nowhere');
    await withLongRuns(page);
    await page.goto(`${board.url}/ui/runs/r`);
    for (const width of [1280, 900, 700, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const times = page.locator('[data-waterfall] [data-call] .end');
      await times.first().waitFor();
      expect(await times.first().textContent()).toBe('59 min 59 s');
      expect({ width, broken: await brokenTexts(times) }).toEqual({ width, broken: [] });
    }
    expect(await brokenTexts(page.locator('[data-slowest]'))).toEqual([]);
    await done();
  });
});

describe('the legend of a chart', () => {
  it.each([1280, 390])('has a long name beside its mark and inside the chart: %i', async (width) => {
    const { page, done } = await board.open('/ui/metrics?by=tool', { viewport: { width, height: 800 } });
    const series = page.locator('[data-chart="rate"] .u-series', { hasText: LONG_NAME });
    await series.waitFor();
    const mark = (await series.locator('.u-marker').boundingBox())!;
    const name = (await series.locator('.u-label').boundingBox())!;
    const chart = (await page.locator('[data-chart="rate"]').boundingBox())!;
    expect(name.x).toBeGreaterThan(mark.x);
    expect(mark.y).toBeGreaterThanOrEqual(name.y - mark.height);
    expect(mark.y).toBeLessThan(name.y + name.height);
    expect(name.x + name.width).toBeLessThanOrEqual(chart.x + chart.width);
    await done();
  });
});

describe('on a phone', () => {
  const viewport = { width: 390, height: 844 };

  it('the link beside the long name of a tool is on one line', async () => {
    const { page, done } = await board.open(`/ui/tools?tool=${LONG_NAME}`, { viewport });
    const link = page.locator('[data-tool-detail]').getByRole('link', { name: 'Test it' });
    await link.waitFor();
    expect(await brokenTexts(link)).toEqual([]);
    await done();
  });

  it('a comparison shows the names of the tools', async () => {
    const { page, done } = await board.open('/ui/compare?a=r&b=long', { viewport });
    const names = page.locator('[data-pair]').getByRole('button');
    await names.nth(2).waitFor();
    const cut = await names.evaluateAll((buttons) =>
      buttons.flatMap((button) =>
        button.scrollWidth > button.clientWidth || button.scrollHeight > button.clientHeight
          ? [button.textContent.trim()]
          : [],
      ),
    );
    // Only a name of more than two lines is cut.
    expect(cut).toEqual([LONG_NAME]);
    await done();
  });

  it('a row of a table is a list, whose headings do not overlap', async () => {
    const { page, done } = await board.open('/ui/agents?view=policy', { viewport });
    await page.locator('td[data-heading="Condition and reason"]').first().waitFor();
    const overlapping = await page
      .locator('td[data-heading]')
      .evaluateAll((cells) =>
        cells.flatMap((cell) => (cell.scrollHeight > cell.clientHeight ? [cell.textContent] : [])),
      );
    expect(overlapping).toEqual([]);
    await done();
  });

  it('no key is named', async () => {
    const { page, done } = await board.open('/ui/tester?tool=toy.echo&pane=sandbox', {
      viewport,
      hasTouch: true,
      isMobile: true,
    });
    await page.locator('kbd').last().waitFor({ state: 'attached' });
    await expect.poll(() => page.locator('main kbd:visible').count()).toBe(0);
    await done();
  });

  it('the filters of the list of calls show what is chosen', async () => {
    const { page, done } = await board.open('/ui/calls', { viewport });
    const chosen = page.locator('.el-select__placeholder');
    await chosen.filter({ hasText: 'Newest first' }).waitFor();
    const cut = await chosen.evaluateAll((labels) =>
      labels.flatMap((label) => (label.scrollWidth > label.clientWidth ? [label.textContent] : [])),
    );
    expect(cut).toEqual([]);
    await done();
  });
});

/** WCAG contrast of the text of an element on its own background. */
async function contrastOf(element: Locator): Promise<number> {
  return await element.evaluate((node) => {
    const { color, backgroundColor } = getComputedStyle(node);
    const pen = new OffscreenCanvas(1, 1).getContext('2d')!;
    const luminanceOf = (css: string): number => {
      pen.fillStyle = css;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    const [dark, light] = [luminanceOf(color), luminanceOf(backgroundColor)].sort((a, b) => a - b);
    return (light! + 0.05) / (dark! + 0.05);
  });
}

describe('a button under the pointer', () => {
  it.each(['light', 'dark'] as const)('can be read: %s', async (colorScheme) => {
    const { page, done } = await board.open('/ui/devices', { colorScheme, reducedMotion: 'reduce' });
    const button = page.locator('[data-connect]');
    const before = await button.evaluate((node) => getComputedStyle(node).backgroundColor);
    expect(await contrastOf(button)).toBeGreaterThanOrEqual(4.5);
    await button.hover();
    await expect
      .poll(() => button.evaluate((node) => getComputedStyle(node).backgroundColor))
      .not.toBe(before);
    await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
    expect(await contrastOf(button)).toBeGreaterThanOrEqual(4.5);
    await done();
  });
});
