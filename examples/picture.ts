// A tool that returns a picture, a bar chart as PNG, with numbers beside it. No server: node examples/picture.ts [chart.png]

import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { content, contentText, createPatchboard, imageBlock, isContentValue, tool } from 'patchboard';
import { z } from 'zod';

const draw = tool({
  name: 'chart.draw',
  description: 'Draw a bar chart',
  parameters: z.object({ values: z.array(z.number().min(0).max(100)).min(1).max(50) }),
  output: z.object({ width: z.number(), highest: z.number() }),
  execute: ({ values }) => {
    const width = values.length * 32;
    const isBar = (x: number, y: number): boolean =>
      x % 32 >= 8 && 100 - y <= (values[Math.floor(x / 32)] ?? 0);
    return content([`A chart of ${values.length} bars.`, imageBlock(toPng(width, 100, isBar), 'image/png')], {
      width,
      highest: Math.max(...values),
    });
  },
});

const board = await createPatchboard({ tools: [draw] });
const { state, result, error } = await board.call('chart.draw', { values: [30, 80, 55, 100, 10] });
if (!isContentValue(result)) throw new Error(`${state}: ${error}`);
console.log(contentText(result));
const [, picture] = result['patchboard:content'];
const [file] = process.argv.slice(2);
if (file !== undefined && picture?.type === 'image') writeFileSync(file, Buffer.from(picture.data, 'base64'));
await board.close();

/** Blue on white, in 8-bit RGB. */
function toPng(width: number, height: number, isBlue: (x: number, y: number) => boolean): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Each row begins with the number of its filter: 0, none.
  const rows = Array.from({ length: height }, (_row, y) => [
    0,
    ...Array.from({ length: width }, (_pixel, x) => (isBlue(x, y) ? [37, 99, 235] : [255, 255, 255])).flat(),
  ]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
  framed.writeUInt32BE(data.length, 0);
  framed.writeUInt32BE(crc32(framed.subarray(4, -4)), data.length + 8);
  return framed;
}
