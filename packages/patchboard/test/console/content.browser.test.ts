import { deflateSync, crc32 } from 'node:zlib';
import { audioBlock, content, imageBlock, resourceBlock } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { aConsole, type TestConsole } from './support/a-console.ts';

const WIDTH = 320;
const HEIGHT = 180;

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
  framed.writeUInt32BE(data.length, 0);
  framed.writeUInt32BE(crc32(framed.subarray(4, -4)), data.length + 8);
  return framed;
}

/** A gradient with a dark disc, so that a person sees at once whether it is shown right. */
function picture(): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  const rows = Array.from({ length: HEIGHT }, (_row, y) => {
    const row = Buffer.alloc(1 + WIDTH * 3);
    for (let x = 0; x < WIDTH; x += 1) {
      const isDisc = (x - 160) ** 2 + (y - 90) ** 2 < 60 ** 2;
      row.set(isDisc ? [30, 30, 60] : [(x * 255) / WIDTH, 160, 255 - (y * 255) / HEIGHT], 1 + x * 3);
    }
    return row;
  });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.concat(rows));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A second of a tone, 8 kHz and 8 bits. */
function tone(): Buffer {
  const header = Buffer.from(
    'RIFF----WAVEfmt ----\u0001\u0000\u0001\u0000----------\u0000\u0000data----',
    'latin1',
  );
  header.writeUInt32LE(36 + 8000, 4);
  header.writeUInt32LE(16, 16);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.writeUInt32LE(8000, 40);
  const samples = Buffer.from(Array.from({ length: 8000 }, (_each, at) => 128 + 60 * Math.sin(at / 3)));
  return Buffer.concat([header, samples]);
}

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40" onload="parent.hit=1">' +
  '<script>globalThis.hit=2;parent.hit=2</script><circle cx="20" cy="20" r="18" fill="teal"/></svg>';

const RESULT = content(
  [
    'The screen, as it is now.',
    imageBlock(picture()),
    imageBlock(Buffer.from(SVG), 'image/svg+xml'),
    imageBlock('AAAA', 'image/png'),
    audioBlock(tone(), 'audio/wav'),
    resourceBlock('file:///notes.html', '<script>globalThis.hit=3</script>', 'text/html'),
    resourceBlock('file:///data.bin', new Uint8Array([1, 2, 3])),
    { type: 'resource_link', uri: 'https://example.org/report', name: 'report' },
    { type: 'resource_link', uri: 'javascript:globalThis.hit=4', name: 'not a link' },
  ],
  { width: WIDTH, height: HEIGHT },
);

let board: TestConsole;
beforeAll(async () => {
  const shoot = aServerTool({ name: 'toy.shoot', description: 'Returns a picture', execute: () => RESULT });
  board = await aConsole({ tools: [shoot] });
});
afterAll(async () => {
  await board?.close();
});

async function invoke(): Promise<string> {
  const path = '/v1/tools/toy.shoot/invoke';
  const response = await board.server.ask({
    method: 'POST',
    path,
    headers: { prefer: 'wait=30' },
    body: { run_id: 'run', args: {} },
  });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

describe('a result with content in the console', () => {
  it('shows pictures, plays audio and offers files, under a policy that runs nothing of it', async () => {
    const { page, done } = await board.open(`/ui/calls/${await invoke()}`);
    const shown = page.getByAltText('Picture 2 of the result');
    await shown.waitFor();
    expect(
      await shown.evaluate((image: HTMLImageElement) =>
        image.decode().then(() => [image.naturalWidth, image.naturalHeight]),
      ),
    ).toEqual([WIDTH, HEIGHT]);
    const drawing = page.getByAltText('Picture 3 of the result');
    await drawing.evaluate((image: HTMLImageElement) => image.decode());
    await page.getByText('The browser cannot show this.').waitFor();
    const audio = page.getByLabel('Audio 5 of the result');
    await expect
      .poll(() => audio.evaluate((player: HTMLAudioElement) => player.duration), { timeout: 60_000 })
      .toBe(1);
    await page.getByText('[image/png, 3 B]').waitFor();
    const link = page.getByRole('link', { name: 'report' });
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await page.getByText('not a link').waitFor();
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    const saves = page.getByRole('link', { name: 'Save' });
    expect(await saves.count()).toBe(6);
    const [download] = await Promise.all([page.waitForEvent('download'), saves.first().click()]);
    expect(download.suggestedFilename()).toBe('block-2.png');
    await page.getByRole('button', { name: 'Show as JSON' }).click();
    await page.getByRole('region', { name: 'Result as JSON' }).waitFor();
    expect(await page.evaluate(() => (globalThis as { hit?: number }).hit)).toBeUndefined();
    await done();
  });

  it('is shown in the tester too, in Chinese and in the dark', async () => {
    const path = '/ui/tester?tool=toy.shoot';
    const { page, done } = await board.open(path, { locale: 'zh-CN', colorScheme: 'dark' });
    await page.getByRole('button', { name: /^运行/ }).click();
    const shown = page.getByAltText('结果中的图片 2');
    await shown.waitFor();
    expect(
      await shown.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
    ).toBe(WIDTH);
    await done();
  });
});
